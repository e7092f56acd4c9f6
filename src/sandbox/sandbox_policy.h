/* sandbox_policy.h — which files and network commands may access.
 *
 * Paths must be absolute, and resolved with realpath(3) when the session is configured. A root that has become a
 * link since is refused, because a command could have replaced it to redirect the sandbox. */
#ifndef SANDBOX_SANDBOX_POLICY_H
#define SANDBOX_SANDBOX_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol/record/enum.h"

struct error;

struct sandbox_policy {
	enum sandbox_mode mode;
	enum sandbox_backend backend;
	/* For workspace_write only: */
	const char *const *writable_roots; /* in addition to cwd, /tmp and tmpdir */
	size_t writable_root_count;
	bool network_access;
	bool has_terminal; /* give the command a terminal of its own */
	bool exclude_cwd;
	bool exclude_tmpdir;
	bool exclude_slash_tmp;
	const char *cwd;
	const char *tmpdir; /* $TMPDIR, or NULL */
	/* the folder of the engine's settings, or NULL: never writable unless it is named as a root */
	const char *home;
};

/* True if commands in this mode run in a sandbox of the engine: read_only and workspace_write. */
bool sandbox_is_needed(enum sandbox_mode mode);

/* True if a command under this policy could write to path (absolute; it need not exist). The engine checks its own
 * writes with it. Links are followed; a path that cannot be resolved is not writable. */
bool sandbox_can_write(const struct sandbox_policy *policy, const char *path);

#endif
