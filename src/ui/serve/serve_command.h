/* serve_command.h — the command `codex serve`. */
#ifndef UI_SERVE_COMMAND_H
#define UI_SERVE_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command serve_command;
int serve_main(int argc, char **argv);

#endif
