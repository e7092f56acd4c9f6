/* sandbox_plan.h — a policy as a list of paths, parents before children, for the backends. */
#ifndef SANDBOX_SANDBOX_PLAN_H
#define SANDBOX_SANDBOX_PLAN_H

#include "base/error.h"
#include "base/arena.h"
#include "base/vec.h"
#include "sandbox/sandbox_policy.h"

/* The deepest listed path that contains a file decides; files that no path contains can only be read. */
struct sandbox_path {
	const char *path;
	bool is_writable;
	bool is_missing;  /* protected although it does not exist */
	bool is_fleeting; /* protected, but in a folder that all users share: it may be removed before it is mounted */
};

struct sandbox_plan {
	VEC(struct sandbox_path) paths; /* parents before children, no path twice; texts are in the arena */
	bool has_network;
	bool has_terminal;
};

must_check int sandbox_plan_init(struct sandbox_plan *plan, const struct sandbox_policy *policy, struct arena *arena,
                                 struct error *err);
void sandbox_plan_finish(struct sandbox_plan *plan); /* plan may be incomplete */
#define auto_sandbox_plan __attribute__((cleanup(sandbox_plan_finish)))

#endif
