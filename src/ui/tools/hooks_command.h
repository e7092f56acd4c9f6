/* hooks_command.h — codex hooks: lists the hooks of a folder, records trust in them, and runs those of one event. */
#ifndef UI_HOOKS_COMMAND_H
#define UI_HOOKS_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command hooks_command;

int hooks_main(int argc, char **argv);

#endif
