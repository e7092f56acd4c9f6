/* tui.h — `codex [PROMPT]`: the terminal. A client of the engine's queues: Ops in, events out. */
#ifndef UI_TUI_H
#define UI_TUI_H

#include "ui/cli/cli.h"

extern const struct cli_command tui_command_line;

int tui_main(int argc, char **argv);

#endif
