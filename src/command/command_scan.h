/* command_scan.h — looks for `rm -f` in shell text that cannot be read as plain commands.
 *
 * The opposite of command_parse: that one says nothing unless it is sure; this one guesses, and may be wrong both ways.
 * It finds what people write (in loops, groups, substitutions, behind assignments, sudo or a nested shell) and passes
 * over quotes, comments and here-documents. So it serves to ask once more, never to allow.
 *
 * Owns nothing. Thread: any. Source: core 2.2, and what 0.169.0 refuses. */
#ifndef COMMAND_COMMAND_SCAN_H
#define COMMAND_COMMAND_SCAN_H

#include <stdbool.h>

#include "base/str.h"

bool command_scan_forces_rm(struct str script);

struct command_word;
/* True if the word, after `rm`, is or could become -f, alone or joined to other letters, or --force. */
bool command_word_forces_rm(const struct command_word *word);

#endif
