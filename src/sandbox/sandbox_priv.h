/* sandbox_priv.h — what sandbox.c and the backends share. */
#ifndef SANDBOX_SANDBOX_PRIV_H
#define SANDBOX_SANDBOX_PRIV_H

#include "base/arena.h"
#include "process/process.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_plan.h"

struct sandbox_driver;

/* A command with the sandbox before it. */
struct sandboxed_command {
	struct arena arena;
	const struct sandbox_driver *driver; /* NULL for a trial */
	struct launch launch;                /* in the arena, or borrowed; the descriptor is owned */
};

/* One way to build a sandbox. Drivers may work in some variants only; variants are tried in order. */
struct sandbox_driver {
	const char *name;
	size_t variants;
	const char *const *details; /* one a variant: how it does it */
	/* A command that ends with 0 if the variant works here; fails with ERR_unsupported if it cannot be tried. */
	int (*trial)(size_t variant, struct sandboxed_command *sandboxed, struct error *err);
	/* The words that make the sandbox set a variable, put after the first env_at of its own. */
	size_t env_at;
	const char *const *(*env_words)(const char *name, const char *value, struct arena *arena);
	/* Puts the sandbox before sandbox->argv. */
	int (*wrap)(size_t variant, const struct sandbox_plan *plan, struct sandboxed_command *sandboxed,
	            struct error *err);
};

extern const struct sandbox_driver sandbox_bwrap, sandbox_landlock;

#endif
