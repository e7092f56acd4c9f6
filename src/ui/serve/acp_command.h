/* acp_command.h — the command `codex acp`. */
#ifndef UI_ACP_COMMAND_H
#define UI_ACP_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command acp_command;
int acp_main(int argc, char **argv);

#endif
