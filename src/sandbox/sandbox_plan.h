/* sandbox_plan.h — a policy as a list of paths, parents before children, for the backends. */
#ifndef SANDBOX_SANDBOX_PLAN_H
#define SANDBOX_SANDBOX_PLAN_H

#include "base/error.h"
#include "base/arena.h"
#include "base/vec.h"
#include "sandbox/sandbox_policy.h"

/* The deepest path that contains a file decides; what no path contains can only be read. */
struct sandbox_path {
	const char *path;
	bool is_writable;
	bool is_missing;  /* protected, but does not exist */
	bool is_fleeting; /* protected in a folder of all users: it may be gone when it is mounted */
};

struct sandbox_plan {
	VEC(struct sandbox_path) paths; /* parents before children, no path twice; texts are the arena's */
	bool has_network;
	bool has_terminal;
};

must_check int sandbox_plan_init(struct sandbox_plan *plan, const struct sandbox_policy *policy, struct arena *arena,
                                 struct error *err);
void sandbox_plan_finish(struct sandbox_plan *plan); /* also a partial one */
#define auto_sandbox_plan __attribute__((cleanup(sandbox_plan_finish)))

#endif
