/* app_server_command.h — `codex app-server`: JSON-RPC for editors and other programs. */
#ifndef UI_APP_SERVER_COMMAND_H
#define UI_APP_SERVER_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command app_server_command;

int app_server_main(int argc, char **argv);

#endif
