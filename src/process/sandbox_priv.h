/* sandbox_priv.h — the plan that a policy becomes, and what a backend makes of it. For process/sandbox*.c only. */
#ifndef PROCESS_SANDBOX_PRIV_H
#define PROCESS_SANDBOX_PRIV_H

#include "base/vec.h"
#include "process/sandbox.h"

/* The deepest path that contains a file decides; what no path contains can only be read. */
struct sandbox_path {
	const char *path;
	bool is_writable;
	bool is_missing; /* guarded, but not there */
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

/* One way to build a fence. Backends may work in some variants only; variants are tried in order. */
struct sandbox_backend {
	const char *name;
	size_t variants;
	/* A command that ends with 0 if the variant works here. NULL if what it takes is not installed. */
	const char *const *(*trial)(size_t variant, struct arena *arena);
	const char *const *(*wrap)(size_t variant, const struct sandbox_plan *plan, const char *const *argv,
	                           struct arena *arena);
};

extern const struct sandbox_backend sandbox_bwrap;

#endif
