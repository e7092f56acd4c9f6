/* sandbox_priv.h — the interface between sandbox.c and the backends. */
#ifndef SANDBOX_SANDBOX_PRIV_H
#define SANDBOX_SANDBOX_PRIV_H

#include "base/arena.h"
#include "process/process.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_plan.h"

struct sandbox_driver;

/* A command wrapped in its sandbox. */
struct sandboxed_command {
	struct arena arena;
	const struct sandbox_driver *driver; /* NULL for a trial */
	struct launch launch;                /* allocated in the arena or borrowed; the descriptor is owned */
};

/* A backend. Some have variants, which are tried in order; the first one that works is used. */
struct sandbox_driver {
	const char *name;
	size_t variants;
	const char *const *details; /* a description of each variant */
	/* Fills in a command that exits with 0 if the variant works here; ERR_unsupported if it cannot be tried. */
	int (*trial)(size_t variant, struct sandboxed_command *sandboxed, struct error *err);
	/* Returns the words that make the sandbox set a variable. They are inserted after the first env_at words. */
	size_t env_at;
	const char *const *(*env_words)(const char *name, const char *value, struct arena *arena);
	/* Replaces launch.argv by a command line that runs it in the sandbox. */
	int (*wrap)(size_t variant, const struct sandbox_plan *plan, struct sandboxed_command *sandboxed,
	            struct error *err);
};

/* True if the program bwrap is found. */
bool sandbox_bwrap_is_installed(void);

extern const struct sandbox_driver sandbox_bwrap, sandbox_landlock;

#endif
