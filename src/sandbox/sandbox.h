/* sandbox.h — what a command may touch, and the sandbox that holds it to that.
 *
 * A policy becomes a plan (which paths are writable, which inside them are not), and a backend builds a sandbox around
 * one command from it: bubblewrap, or Landlock and mounts set up by our own executable (docs/sandbox.md). What works
 * on this machine is found out once, by trying. Where nothing does a command is refused: it never runs bare because
 * its sandbox is missing.
 *
 * What each sandbox does: everything can be read; only the writable roots can be written, and in them not .git, .codex
 * and .agents at their top, also where these do not exist yet (but for temporary folders, where anybody could make
 * them); no network but a loopback of its own unless allowed; no signal, ptrace or shared memory reaches the outside;
 * no new privileges, and of root's only those that make file permissions no obstacle; system calls that undo any of
 * this are denied (sandbox_filter.def).
 *
 * Owns: the results of the trials, once a thread. Thread: the loop's only. Source: core 16. */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/sandbox_policy.h"

struct launch;
struct loop;
struct sandboxed_command;

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

/* *ret_sandboxed is NULL where no sandbox is needed, else argv with the sandbox around it, for struct process_spec;
 * argv must outlive it. Fails with ERR_unsupported (and what to do about it) if no backend works here, ERR_not_found if
 * a root does not exist, ERR_denied if the policy cannot be kept for what lies in a root. */
int sandbox_wrap(const struct sandbox_policy *policy, const char *const *argv, struct sandboxed_command **ret_sandboxed,
                 struct error *err);
void sandboxed_command_destroy(struct sandboxed_command *sandboxed);
#define auto_sandboxed_command __attribute__((cleanup(sandboxed_command_slot)))
static inline void sandboxed_command_slot(struct sandboxed_command **sandboxed)
{
	sandboxed_command_destroy(*sandboxed);
}
/* What to start in place of argv, with env as the command's environment; NULL for no sandbox. Borrowed from it.
 * Variables that steer the dynamic loader are set inside the sandbox: the program that sets it up must not load a
 * library that a command left in the workspace. */
const struct launch *sandbox_launch(struct sandboxed_command *sandboxed, const char *const *env);

#endif
