/* patch_command.h — a command line that is a patch in disguise (core 4.7).
 *
 * Models that have a shell sometimes send their patch through it. Such a call is taken out of the shell and
 * treated as the patch that it is. Recognises these forms and nothing else; anything unusual is an ordinary command:
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
	PATCH_COMMAND_APPLY, /* to apply `patch`, which may still be malformed, below `folder` */
	PATCH_COMMAND_BARE,  /* a patch and no command: PATCH_COMMAND_BARE_TEXT is the answer */
};

#define PATCH_COMMAND_BARE_TEXT \
	"patch detected without explicit call to apply_patch. Rerun as [\"apply_patch\", \"<patch>\"]"

struct patch_command {
	enum patch_command_kind kind;
	struct str patch;
	struct str folder; /* relative to the command's own; STR_NONE: that one */
};

struct patch_command patch_command_find(const struct str *argv, size_t count);
/* The same for a script that a shell is about to be given. */
struct patch_command patch_command_find_script(struct str script);

#endif
