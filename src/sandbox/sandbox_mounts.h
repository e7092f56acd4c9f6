/* sandbox_mounts.h — the calling process's own view of the file system, made from a plan (sandbox_priv.h).
 *
 * Owns nothing; what it sets up ends with the last process in it. Thread: the only one of its process. */
#ifndef SANDBOX_SANDBOX_MOUNTS_H
#define SANDBOX_SANDBOX_MOUNTS_H

#include <stdbool.h>

struct error;
struct sandbox_plan;

/* New mount and IPC name spaces, without network also a new one with nothing but the loopback; in a new user name
 * space if asked. In that view all is read-only but the plan's writable paths. */
int sandbox_mounts_enter(const struct sandbox_plan *plan, bool has_user_namespace, struct error *err);

#endif
