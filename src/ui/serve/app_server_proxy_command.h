/* app_server_proxy_command.h — `codex app-server proxy`. */
#ifndef UI_APP_SERVER_PROXY_COMMAND_H
#define UI_APP_SERVER_PROXY_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command app_server_proxy_command;
int app_server_proxy_main(int argc, char **argv);

#endif
