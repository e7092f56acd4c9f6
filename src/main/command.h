/* command.h — the commands of `codex`: the rows of command.def. */
#ifndef MAIN_COMMAND_H
#define MAIN_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command codex_command;

/* Prints that text is no command, and the nearest one. Returns the exit status. */
int command_refuse(const char *text);

#endif
