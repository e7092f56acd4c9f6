/* custom_prompt.h — texts that the user keeps in $CODEX_HOME/prompts/NAME.md and sends as /prompts:NAME.
 *
 * Owns: nothing; what is read lives in the caller's arena. Blocks: files are read. Any thread.
 * Source: core 9. */
#ifndef SKILL_CUSTOM_PROMPT_H
#define SKILL_CUSTOM_PROMPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "protocol/record/types.h"

/* Sorted by name; what is no UTF-8 text, or too large, is passed over. */
struct ev_list_custom_prompts custom_prompt_list(const char *home, struct arena *arena);

/* Whether a text is /prompts:NAME with or without arguments. */
bool custom_prompt_is_called(struct str text);
/* Appends the text that such a call stands for. $1 to $9 and $ARGUMENTS are the words behind the name, $NAME the values
 * of key=value words; "$$" stays. Errors: ERR_not_found, and ERR_invalid for arguments that do not fit the text. */
must_check int custom_prompt_expand(const char *home, struct str call, struct buf *out, struct error *err);

#endif
