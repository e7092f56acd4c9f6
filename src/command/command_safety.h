/* command_safety.h — what is known of a command without running it: harmless, dangerous, or neither.
 *
 * Harmless means that it only reads and says, whatever the folder holds; so nobody is asked about it. Dangerous means
 * that it destroys what cannot be had back; so somebody always is. Both are about plain commands (command_parse.h);
 * what is not understood is neither, unless `rm -f` is found in it (command_scan.h).
 *
 * Thread: any. Source: core 2.1, 2.2; where ours is stricter than upstream's, command_safety.c says so. */
#ifndef COMMAND_COMMAND_SAFETY_H
#define COMMAND_COMMAND_SAFETY_H

#include "command/command_parse.h"

/* A safe git reads, but runs what the repository's settings name: the caller looks at the repository too
 * (git_inert.h), and not at all after a command that moves to another folder. */
bool plain_command_is_safe(const struct plain_command *command);
bool plain_command_is_git(const struct plain_command *command);
bool plain_command_moves(const struct plain_command *command);
bool plain_command_is_dangerous(const struct plain_command *command);

/* True if any command of an argument vector (NULL at its end) is dangerous. */
bool command_is_dangerous(const char *const *argv);

#endif
