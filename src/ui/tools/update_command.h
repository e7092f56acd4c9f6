/* update_command.h — `codex update`: prints the command that updates this installation. Uses no network. */
#ifndef UI_UPDATE_COMMAND_H
#define UI_UPDATE_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command update_command;

/* Returns the exit status: 0; 1 if it is unknown how the program was installed; 2 for a wrong command line. */
int update_main(int argc, char **argv);

#endif
