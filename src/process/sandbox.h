/* sandbox.h — what a command may touch, and the argument vector that holds it to that.
 *
 * A policy becomes a plan (which paths are writable, which inside them are not), and a backend turns
 * the plan into a prefix for the command. There is one backend so far, bubblewrap; whether it works on
 * this machine is found out once per process, by trying. Where none works a command is refused: it never
 * runs bare because its fence is missing.
 *
 * What the fence does: everything can be read; only the writable roots can be written, and in them not
 * .git, .codex and .agents at their top (if one is missing, a command can create it: a mount cannot guard
 * what is not there); own process and network name spaces; no capabilities for ordinary users. Root keeps
 * those that make file permissions no obstacle, as it is used to. Commands in the background end with
 * their command. What it does not do: system calls are not filtered, so sockets in the file system
 * that the user may write to can be connected to.
 *
 * Paths in a policy must be absolute and as realpath(3) gives them, resolved once when the session is
 * configured: a command could replace its root by a link to elsewhere, so a root that has become a link
 * is refused.
 *
 * Owns: the result of the probe, once per process. Thread: the loop's only. Source: core 16. */
#ifndef PROCESS_SANDBOX_H
#define PROCESS_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "protocol/enum.h"

struct error;
struct loop;

struct sandbox_policy {
	enum sandbox_mode mode;
	/* For workspace_write: */
	const char *const *writable_roots; /* besides cwd, /tmp and tmpdir */
	size_t writable_root_count;
	bool network_access;
	bool has_terminal; /* of its own: it may keep it, as nobody else's session is at the other end */
	bool exclude_tmpdir;
	bool exclude_slash_tmp;
	const char *cwd;
	const char *tmpdir; /* $TMPDIR, or NULL */
};

/* True if commands under this mode run in a fence of ours: read_only and workspace_write. */
bool sandbox_is_needed(enum sandbox_mode mode);

/* Finds out what works here: the first time by running trials (some ms), later at once. on_probed runs once, never
 * inside the call. Destroy cancels; NULL is fine. */
struct sandbox_probe;
typedef void (*sandbox_probed_fn)(void *self);
struct sandbox_probe *sandbox_probe_create(struct loop *loop, sandbox_probed_fn on_probed, void *self);
void sandbox_probe_destroy(struct sandbox_probe *probe);
/* True once sandbox_wrap can be asked. */
bool sandbox_is_probed(void);
/* "bubblewrap", or NULL and err if no backend works here, or none was tried yet. */
const char *sandbox_backend_name(struct error *err);

/* *ret_argv is argv itself where no fence is needed, else argv with the fence before it, in the arena. Fails with
 * ERR_unsupported (and what to do about it) if no backend works here, ERR_not_found if a root does not
 * exist, ERR_denied if the policy cannot be kept for what lies in a root. */
int sandbox_wrap(const struct sandbox_policy *policy, const char *const *argv, struct arena *arena,
                 const char *const **ret_argv, struct error *err);

/* True if a command under this policy could write to path (absolute; it need not exist). For the engine's own writes,
 * which no fence holds. Links are followed; what cannot be resolved cannot be written. */
bool sandbox_can_write(const struct sandbox_policy *policy, const char *path);

#endif
