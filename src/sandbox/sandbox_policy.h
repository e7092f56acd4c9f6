/* sandbox_policy.h — what commands may touch.
 *
 * Paths must be absolute and as realpath(3) gives them, resolved once when the session is configured: a command could
 * replace its root by a link to elsewhere, so a root that has become a link is refused. */
#ifndef SANDBOX_SANDBOX_POLICY_H
#define SANDBOX_SANDBOX_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol/record/enum.h"

struct error;

struct sandbox_policy {
	enum sandbox_mode mode;
	enum sandbox_backend backend;
	/* For workspace_write: */
	const char *const *writable_roots; /* besides cwd, /tmp and tmpdir */
	size_t writable_root_count;
	bool network_access;
	bool has_terminal; /* the command gets a terminal of its own */
	bool exclude_tmpdir;
	bool exclude_slash_tmp;
	const char *cwd;
	const char *tmpdir; /* $TMPDIR, or NULL */
	const char *home; /* the folder of the engine's own settings: never writable, unless named as a root; or NULL */
};

/* True if commands in this mode run in a sandbox of the engine: read_only and workspace_write. */
bool sandbox_is_needed(enum sandbox_mode mode);

/* True if a command under this policy could write to path (absolute; it need not exist). The engine checks its own
 * writes with this. Links are followed; a path that cannot be resolved is not writable. */
bool sandbox_can_write(const struct sandbox_policy *policy, const char *path);

#endif
