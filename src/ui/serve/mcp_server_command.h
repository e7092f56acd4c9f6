/* mcp_server_command.h — `codex mcp-server`: the engine as tools of another program. */
#ifndef UI_MCP_SERVER_COMMAND_H
#define UI_MCP_SERVER_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command mcp_server_command;

/* Returns the exit status. */
int mcp_server_main(int argc, char **argv);

#endif
