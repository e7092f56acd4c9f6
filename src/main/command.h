/* command.h — the commands of `codex`: the rows of command.def. */
#ifndef MAIN_COMMAND_H
#define MAIN_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command codex_command;

/* Prints why the command line is rejected: text is an unknown word; NULL: no command was given. Returns the exit
 * status. */
int command_refuse(const char *text);

#endif
