/* custom_prompt.h — lists and expands the user's prompts in $CODEX_HOME/prompts/NAME.md, sent as /prompts:NAME.
 *
 * Owns: nothing; results live in the caller's arena. Blocks: files are read. Any thread. */
#ifndef SKILL_CUSTOM_PROMPT_H
#define SKILL_CUSTOM_PROMPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "protocol/record/types.h"

/* Lists the prompts, sorted by name; files that are too large or not UTF-8 are skipped. */
struct ev_list_custom_prompts custom_prompt_list(const char *home, struct arena *arena);

/* True if the text is /prompts:NAME, with or without arguments. */
bool custom_prompt_is_called(struct str text);
/* Appends the expansion of such a call. $1 to $9 and $ARGUMENTS are the words after the name, $NAME the values of
 * key=value words; "$$" is not changed. Errors: ERR_not_found, and ERR_invalid for arguments that do not match the
 * text. */
must_check int custom_prompt_expand(const char *home, struct str call, struct buf *out, struct error *err);

#endif
