/* command_word.h — the meanings that a word of a command could have once the shell has expanded it.
 *
 * Pure. Thread: any. */
#ifndef COMMAND_COMMAND_WORD_H
#define COMMAND_COMMAND_WORD_H

#include <stdbool.h>

#include "base/str.h"

struct command_word;

/* True if the word is text, or has a pattern or expansion that could become text; letter case is ignored, as shells
 * can be set to do. A pattern that exceeds the budget could become anything. */
bool command_word_can_be(const struct command_word *word, struct str text);

/* True if the word has an expansion (COMMAND_EXPANSION), and if it has nothing else: "$x", "$a$b". */
bool command_word_is_expanded(const struct command_word *word);
bool command_word_is_unknown(const struct command_word *word);

/* True if the word, after `rm`, is or could become -f, alone or joined to other letters, or --force. */
bool command_word_forces_rm(const struct command_word *word);

#endif
