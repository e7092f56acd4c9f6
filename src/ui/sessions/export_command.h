/* export_command.h — `codex export`: prints a recorded session for people or as JSON. */
#ifndef UI_EXPORT_COMMAND_H
#define UI_EXPORT_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command export_command;
int export_main(int argc, char **argv);

#endif
