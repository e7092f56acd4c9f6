/* command_scan.h — looks for `rm -f` in shell text that cannot be read as plain commands.
 *
 * Unlike command_parse.h, which answers only when it is sure, this guesses and may be wrong both ways. It finds the
 * usual forms (in loops, groups, substitutions, after assignments, with sudo or a nested shell) and skips quotes,
 * comments and here-documents. So it can cause a question to the user and never allows anything.
 *
 * Owns nothing. Thread: any. */
#ifndef COMMAND_COMMAND_SCAN_H
#define COMMAND_COMMAND_SCAN_H

#include <stdbool.h>

#include "base/str.h"

bool command_scan_forces_rm(struct str script);

struct command_word;
/* True if the word, after `rm`, is or could become -f, alone or joined to other letters, or --force. */
bool command_word_forces_rm(const struct command_word *word);

#endif
