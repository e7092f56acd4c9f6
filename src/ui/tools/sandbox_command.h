/* sandbox_command.h — `codex sandbox -- COMMAND`: one command in the fence that the engine would put around it.
 *
 * An edge: it reads the configuration, runs the command at the user's own terminal and ends as it did (core 16). */
#ifndef UI_SANDBOX_COMMAND_H
#define UI_SANDBOX_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command sandbox_command;

/* Exit status: the command's; 128 and the signal's number if one ended it; 126 and 127 if there is no such program; 1
 * if it could not be fenced in; 2 for a wrong command line. */
int sandbox_main(int argc, char **argv);

#endif
