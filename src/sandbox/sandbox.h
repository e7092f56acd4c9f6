/* sandbox.h — puts a command into a sandbox that enforces a policy.
 *
 * A policy becomes a plan (which paths are writable, and which paths inside them are not). A backend builds a
 * sandbox for one command from the plan: bubblewrap, or Landlock with mounts set up by the engine's own executable
 * (docs/sandbox.md). Trials determine once which backend works on this machine. If no backend works, the command is
 * refused; it never runs without the sandbox it needs.
 *
 * Each sandbox gives these limits: everything can be read; only the writable roots can be written, and in them not
 * .git, .codex and .agents at their top, whether these exist or not (except in temporary folders, where any user
 * could create them); no network but a private loopback unless allowed; no signal, ptrace or shared memory reaches a
 * process outside; no new privileges, and root keeps only those that override file permissions; system calls that
 * could undo any of this are denied (sandbox_filter.def).
 *
 * Owns: the results of the trials, per thread. Thread: the loop's. */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "sandbox/sandbox_policy.h"

struct launch;
struct loop;
struct sandboxed_command;

/* Determines whether the backend works here (auto: which one does), the first time with trials of some milliseconds.
 * on_probed runs once, never inside the call. sandbox_probe_destroy cancels it; NULL is fine. */
struct sandbox_probe;
typedef void (*sandbox_probed_fn)(void *self);
must_check struct sandbox_probe *sandbox_probe_create(struct loop *loop, enum sandbox_backend backend,
                                                      sandbox_probed_fn on_probed, void *self);
void sandbox_probe_destroy(struct sandbox_probe *probe);
/* True if the result is known, so that sandbox_wrap can be called. */
bool sandbox_is_probed(enum sandbox_backend backend);
/* Returns "bubblewrap" or "landlock"; NULL and err if the backend (auto: every backend) fails here or was not tried. */
must_check const char *sandbox_backend_name(enum sandbox_backend backend, struct error *err);
/* Returns how a working backend operates, or why another one fails; "" if it was not tried. */
const char *sandbox_backend_detail(enum sandbox_backend backend);
/* Returns the step that makes a sandbox work here, for the case that none does. */
const char *sandbox_remedy(void);

/* Wraps argv, which must outlive the result. *ret_sandboxed is NULL if the policy needs no sandbox. ERR_unsupported
 * (with a remedy) if no backend works here, ERR_not_found if a root does not exist, ERR_denied if the content of a
 * root makes the policy impossible. */
must_check int sandbox_wrap(const struct sandbox_policy *policy, const char *const *argv,
                            struct sandboxed_command **ret_sandboxed, struct error *err);
void sandboxed_command_destroy(struct sandboxed_command *sandboxed);
#define auto_sandboxed_command __attribute__((cleanup(sandboxed_command_slot)))
static inline void sandboxed_command_slot(struct sandboxed_command **sandboxed)
{
	sandboxed_command_destroy(*sandboxed);
}
/* Returns the launch to execute instead of argv, with env as the command's environment; NULL for no sandbox.
 * Borrowed from sandboxed. Variables that affect the dynamic loader are set inside the sandbox, so that the program
 * that builds it does not load a library from the workspace. */
const struct launch *sandbox_launch(struct sandboxed_command *sandboxed, const char *const *env);

#endif
