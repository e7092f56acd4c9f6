/* sandbox_command.h — `codex sandbox -- COMMAND`: runs one command in the engine's sandbox.
 *
 * It reads the configuration, runs the command on the user's terminal and exits with its status. */
#ifndef UI_SANDBOX_COMMAND_H
#define UI_SANDBOX_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command sandbox_command;

/* Returns the exit status: that of the command; 128 plus the signal's number if a signal ended it; 126 or 127 if the
 * program cannot be run; 1 if the sandbox is not available; 2 for a wrong command line. */
int sandbox_main(int argc, char **argv);

#endif
