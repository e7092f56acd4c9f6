/* plugin_command.h — `codex plugin`: adds, lists and removes the folders that config/plugin.h uses. */
#ifndef UI_PLUGIN_COMMAND_H
#define UI_PLUGIN_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command plugin_command;
int plugin_main(int argc, char **argv);

#endif
