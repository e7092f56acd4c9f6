/* sandbox_priv.h — the plan that a policy becomes, and what a backend makes of it. For process/sandbox*.c only. */
#ifndef SANDBOX_SANDBOX_PRIV_H
#define SANDBOX_SANDBOX_PRIV_H

#include "base/vec.h"
#include "sandbox/sandbox.h"

/* The deepest path that contains a file decides; what no path contains can only be read. */
struct sandbox_path {
	const char *path;
	bool is_writable;
	bool is_missing;  /* guarded, but not there */
	bool is_fleeting; /* guarded in a folder of everybody's: it may be gone by the time it is mounted */
};

struct sandbox_plan {
	VEC(struct sandbox_path) paths; /* parents before children, no path twice; texts are the arena's */
	bool has_network;
	bool has_terminal;
};

int sandbox_plan_init(struct sandbox_plan *plan, const struct sandbox_policy *policy, struct arena *arena,
                      struct error *err);
void sandbox_plan_finish(struct sandbox_plan *plan); /* also a half-built one */
#define auto_sandbox_plan __attribute__((cleanup(sandbox_plan_finish)))

struct sandbox_driver;

/* A command with the fence before it. */
struct sandbox_fence {
	struct arena arena;
	const struct sandbox_driver *driver; /* NULL for a trial */
	const char *const *argv; /* the arena's, or borrowed */
	const char *mark;        /* see sandbox_fence_mark */
	int fd;                  /* which it reads as SPAWN_EXTRA_FD; 0: none */
};

/* One way to build a fence. Drivers may work in some variants only; variants are tried in order. */
struct sandbox_driver {
	const char *name;
	size_t variants;
	const char *const *details; /* one a variant: how it does it */
	/* A command that ends with 0 if the variant works here; fails with ERR_unsupported if it cannot be tried. */
	int (*trial)(size_t variant, struct sandbox_fence *fence, struct error *err);
	/* The words that make the fence set a variable, put after the first env_at of its own. */
	size_t env_at;
	const char *const *(*env_words)(const char *name, const char *value, struct arena *arena);
	/* Puts the fence before fence->argv. */
	int (*wrap)(size_t variant, const struct sandbox_plan *plan, struct sandbox_fence *fence, struct error *err);
};

extern const struct sandbox_driver sandbox_bwrap, sandbox_landlock;

#endif
