/* debug_command.h — `codex debug-client`: an interactive client of the event protocol. */
#ifndef UI_DEBUG_COMMAND_H
#define UI_DEBUG_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command debug_client_command;

/* In the program codex: executes codex-fleet, whose debug_client_main starts codex as its engine. */
int debug_client_exec(int argc, char **argv);
int debug_client_main(int argc, char **argv);

#endif
