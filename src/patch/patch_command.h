/* patch_command.h — recognises command lines that only apply a patch.
 *
 * Models with a shell tool sometimes send a patch through it. Such a call is applied as a patch instead of being run.
 * Exactly these forms are recognised; anything else is an ordinary command:
 *     ["apply_patch", PATCH]
 *     [bash|zsh|sh, -c|-lc, "apply_patch <<'EOF'\nPATCH\nEOF"], the marker quoted or not
 *     the same after "cd FOLDER && "
 * Owns nothing: slices point into argv. */
#ifndef PATCH_PATCH_COMMAND_H
#define PATCH_PATCH_COMMAND_H

#include <stddef.h>

#include "base/str.h"

enum patch_command_kind {
	PATCH_COMMAND_NONE,  /* an ordinary command */
	PATCH_COMMAND_APPLY, /* a command that applies `patch`, which may be malformed, below `folder` */
	PATCH_COMMAND_BARE,  /* a patch without a command: answered with PATCH_COMMAND_BARE_TEXT */
};

#define PATCH_COMMAND_BARE_TEXT \
	"patch detected without explicit call to apply_patch. Rerun as [\"apply_patch\", \"<patch>\"]"

struct patch_command {
	enum patch_command_kind kind;
	struct str patch;
	struct str folder; /* relative to the command's cwd; STR_NONE: the cwd itself */
};

struct patch_command patch_command_find(const struct str *argv, size_t count);

#endif
