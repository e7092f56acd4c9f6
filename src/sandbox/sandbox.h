/* sandbox.h — what a command may touch, and the fence that holds it to that.
 *
 * A policy becomes a plan (which paths are writable, which inside them are not), and a backend builds a fence around
 * one command from it: bubblewrap, or Landlock and mounts set up by our own executable (docs/sandbox.md). What works
 * on this machine is found out once, by trying. Where nothing does a command is refused: it never runs bare because
 * its fence is missing.
 *
 * What each fence does: everything can be read; only the writable roots can be written, and in them not .git, .codex
 * and .agents at their top, also where these do not exist yet (but for temporary folders, where anybody could make
 * them); no network but a loopback of its own unless allowed; no signal, ptrace or shared memory reaches the outside;
 * no new privileges, and of root's only those that make file permissions no obstacle; system calls that undo any of
 * this are denied (sandbox_filter.def).
 *
 * Paths in a policy must be absolute and as realpath(3) gives them, resolved once when the session is
 * configured: a command could replace its root by a link to elsewhere, so a root that has become a link
 * is refused.
 *
 * Owns: the results of the trials, once a thread. Thread: the loop's only. Source: core 16. */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "protocol/record/enum.h"

struct error;
struct loop;
struct sandbox_fence;

struct sandbox_policy {
	enum sandbox_mode mode;
	enum sandbox_backend backend;
	/* For workspace_write: */
	const char *const *writable_roots; /* besides cwd, /tmp and tmpdir */
	size_t writable_root_count;
	bool network_access;
	bool has_terminal; /* of its own: it may keep it, as nobody else's session is at the other end */
	bool exclude_tmpdir;
	bool exclude_slash_tmp;
	const char *cwd;
	const char *tmpdir; /* $TMPDIR, or NULL */
	const char *home;   /* where the engine's own settings lie: never writable, unless named as a root; or NULL */
};

/* True if commands under this mode run in a fence of ours: read_only and workspace_write. */
bool sandbox_is_needed(enum sandbox_mode mode);

/* Finds out whether the backend works here (auto: which): the first time by running trials (some ms), later at once.
 * on_probed runs once, never inside the call. Destroy cancels; NULL is fine. */
struct sandbox_probe;
typedef void (*sandbox_probed_fn)(void *self);
struct sandbox_probe *sandbox_probe_create(struct loop *loop, enum sandbox_backend backend, sandbox_probed_fn on_probed,
                                           void *self);
void sandbox_probe_destroy(struct sandbox_probe *probe);
/* True once sandbox_wrap can be asked. */
bool sandbox_is_probed(enum sandbox_backend backend);
/* "bubblewrap" or "landlock"; NULL and err if it does not work here (auto: if none does), or was not tried yet. */
const char *sandbox_backend_name(enum sandbox_backend backend, struct error *err);
/* How a backend that works does it here, in a few words, and why one that does not fails; "" if it was not tried. */
const char *sandbox_backend_detail(enum sandbox_backend backend);

/* *ret_fence is NULL where no fence is needed, else argv with the fence around it, for struct process_spec; argv must
 * outlive it. Fails with ERR_unsupported (and what to do about it) if no backend works here, ERR_not_found if a root
 * does not exist, ERR_denied if the policy cannot be kept for what lies in a root. */
int sandbox_wrap(const struct sandbox_policy *policy, const char *const *argv, struct sandbox_fence **ret_fence,
                 struct error *err);
void sandbox_fence_destroy(struct sandbox_fence *fence);
#define auto_sandbox_fence __attribute__((cleanup(sandbox_fence_slot)))
static inline void sandbox_fence_slot(struct sandbox_fence **fence)
{
	sandbox_fence_destroy(*fence);
}
/* What is started in argv's place, and the descriptor that it reads as number SPAWN_EXTRA_FD; 0: none. */
const char *const *sandbox_fence_argv(const struct sandbox_fence *fence);
int sandbox_fence_fd(const struct sandbox_fence *fence);
/* The environment to start it with, good until the fence is destroyed; call before sandbox_fence_argv. What steers the
 * dynamic loader is set inside: a library that a command left in the workspace must not be loaded by the fence. */
const char *const *sandbox_fence_env(struct sandbox_fence *fence, const char *const *env);
/* "CODEX_SANDBOX=bubblewrap": what its command finds in the environment. NULL while a backend is being tried. */
#define SANDBOX_MARK_NAME "CODEX_SANDBOX"
const char *sandbox_fence_mark(const struct sandbox_fence *fence);

/* True if a command under this policy could write to path (absolute; it need not exist). For the engine's own writes,
 * which no fence holds. Links are followed; what cannot be resolved cannot be written. */
bool sandbox_can_write(const struct sandbox_policy *policy, const char *path);

#endif
