/* sandbox_mounts.h — the calling process's own view of the file system, made from a plan (sandbox_plan.h).
 *
 * Owns nothing; the mounts end with the last process in them. For processes with a single thread. */
#ifndef SANDBOX_SANDBOX_MOUNTS_H
#define SANDBOX_SANDBOX_MOUNTS_H

#include <stdbool.h>

#include "base/error.h"

struct error;
struct sandbox_plan;

/* Creates new mount and IPC namespaces and, if the plan allows no network, a network namespace with only a loopback
 * device; all within a new user namespace if requested. Only the plan's writable paths are writable in them. */
must_check int sandbox_mounts_enter(const struct sandbox_plan *plan, bool has_user_namespace, struct error *err);

#endif
