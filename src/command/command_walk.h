/* command_walk.h — visits every command that a command runs: itself, the command after each wrapper (sudo, timeout,
 * xargs, …), and those of nested shells.
 *
 * It may visit commands that do not run and miss others (command_scan.h), so it can only make a decision stricter.
 *
 * Owns nothing. Thread: any. */
#ifndef COMMAND_COMMAND_WALK_H
#define COMMAND_COMMAND_WALK_H

#include <stdbool.h>

#include "base/str.h"
#include "command/command_parse.h"

/* The command ends with the call. */
typedef void (*command_walk_fn)(const struct plain_command *command, void *self);

/* The command itself is visited first. False: not all of it was visited, because a script in it is too long or nested
 * too deeply, or there are too many commands. */
bool command_walk(const struct plain_command *command, command_walk_fn fn, void *self);
/* The same for shell text of any kind. */
bool command_walk_script(struct str script, command_walk_fn fn, void *self);

#endif
