/* command_safety.h — classifies a command without running it: safe, dangerous, or neither.
 *
 * A safe command only reads and prints, regardless of the content of the folder, so it needs no approval. A dangerous
 * one destroys data that cannot be restored, so it always needs approval. Only plain commands (command_parse.h) are
 * safe; dangerous ones are searched in everything that a command runs (command_walk.h).
 *
 * Thread: any. command_safety.c lists where this is stricter than codex 0.169. */
#ifndef COMMAND_COMMAND_SAFETY_H
#define COMMAND_COMMAND_SAFETY_H

#include "command/command_parse.h"

/* A safe git command reads, but runs programs that the repository's settings name. So the caller must also check the
 * repository (git_inert.h), and must not treat git as safe after a command that changes the folder. */
bool plain_command_is_safe(const struct plain_command *command);
bool plain_command_is_git(const struct plain_command *command);
bool plain_command_moves(const struct plain_command *command);
bool plain_command_is_dangerous(const struct plain_command *command);

/* True if any command of an argument vector (NULL at its end) is dangerous. */
bool command_is_dangerous(const char *const *argv);

#endif
