/* command.h — the commands of `codex`: the rows of command.def. */
#ifndef MAIN_COMMAND_H
#define MAIN_COMMAND_H

#include <stdbool.h>

#include "ui/cli/cli.h"

extern const struct cli_command codex_command;

/* True if text looks like a mistyped command. */
bool command_is_like(const char *text);
/* Prints that text is no command, and the nearest one. Returns the exit status. */
int command_refuse(const char *text);

#endif
