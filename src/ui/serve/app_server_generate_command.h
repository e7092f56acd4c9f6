/* app_server_generate_command.h — `codex app-server generate-json-schema` and `generate-ts`. The functions are
 * called in codex-fleet. */
#ifndef UI_APP_SERVER_GENERATE_COMMAND_H
#define UI_APP_SERVER_GENERATE_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command app_server_generate_schema_command;
int app_server_generate_schema_main(int argc, char **argv);

extern const struct cli_command app_server_generate_ts_command;
int app_server_generate_ts_main(int argc, char **argv);

#endif
