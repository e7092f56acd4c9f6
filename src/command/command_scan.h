/* command_scan.h — looks for `rm -f` in shell text that cannot be read as plain commands.
 *
 * Unlike command_parse.h, which accepts only what it fully understands, this guesses and may err in both directions.
 * It finds the usual forms (in loops, groups, substitutions, after assignments, with sudo or a nested shell) and
 * skips quotes, comments and here-documents. So it may cause an approval request, but never allows a command.
 *
 * Owns nothing. Thread: any. */
#ifndef COMMAND_COMMAND_SCAN_H
#define COMMAND_COMMAND_SCAN_H

#include <stdbool.h>

#include "base/str.h"

bool command_scan_forces_rm(struct str script);

struct command_word;
/* True if the word, as an argument of rm, is or could become -f, alone or joined to other letters, or --force. */
bool command_word_forces_rm(const struct command_word *word);

#endif
