/* mcp_command.h — `codex mcp`: shows and changes the MCP servers of config.toml. */
#ifndef UI_MCP_COMMAND_H
#define UI_MCP_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command mcp_command;

/* Returns the exit status: 0; 1 if it failed; 2 for a wrong command line. */
int mcp_main(int argc, char **argv);

#endif
