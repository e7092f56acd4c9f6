/* remote_command.h — one command in an environment: its start, output, input and end, over a link of its own.
 *
 * A command that needs a sandbox runs in that of the exec-server. A server that reports none is refused: before the
 * first such command it starts one without effect, to show that it has a sandbox. Files that the policy names are those
 * of the environment. A link that is lost after the start is resumed, and what was missed is read. If that is not
 * possible the command ends with code -1 and words; it is never run elsewhere.
 *
 * Owns: the link. Loop thread only. */
#ifndef REMOTE_REMOTE_COMMAND_H
#define REMOTE_REMOTE_COMMAND_H

#include "base/list.h"
#include "sandbox/command_run.h"

/* The functions of a place that is a struct environment. */
extern const struct command_place remote_command_place;

/* Closes the links of the commands in the list `leaving` of an environment, which were destroyed while they ran. */
void remote_commands_abandon(struct list *leaving);

#endif
