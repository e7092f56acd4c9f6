/* app_server_daemon_command.h — `codex app-server daemon start|stop|restart|status|version` and `proxy`. */
#ifndef UI_APP_SERVER_DAEMON_COMMAND_H
#define UI_APP_SERVER_DAEMON_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command app_server_daemon_command;
int app_server_daemon_main(int argc, char **argv);

extern const struct cli_command app_server_proxy_command;
int app_server_proxy_main(int argc, char **argv);

#endif
