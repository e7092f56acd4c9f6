/* command_scan.h — finds the commands in shell text that cannot be read as plain commands.
 *
 * Unlike command_parse.h, which answers only when it is sure, this guesses: it may find a command that does not run (in
 * a function that is never called) and may miss one (that of an alias). It reads loops, groups, substitutions,
 * redirections, assignments, escapes, braces and here-documents, and skips comments. So what it finds can cause a
 * question to the user or a refusal, and never allows anything.
 *
 * Owns nothing. Thread: any. */
#ifndef COMMAND_COMMAND_SCAN_H
#define COMMAND_COMMAND_SCAN_H

#include <stdbool.h>

#include "base/str.h"
#include "command/command_parse.h"

/* The command ends with the call. Variables and substitutions in its words are COMMAND_EXPANSION; assignments,
 * redirections and words such as "do" are left out. */
typedef void (*command_scan_fn)(const struct plain_command *command, void *self);

/* Calls fn for each command in the script, in no particular order. False: the script is longer than
 * LIMIT_COMMAND_PARSE, nested too deeply, or ends inside quotes, a substitution or a here-document, so that not all of
 * it was read, or not correctly. */
bool command_scan(struct str script, command_scan_fn fn, void *self);

#endif
