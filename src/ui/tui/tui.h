/* tui.h — `codex [PROMPT]`, `codex resume`, `codex fork`, `codex attach`: the terminal. A client of the engine's
 * queues: Ops in, events out. */
#ifndef UI_TUI_H
#define UI_TUI_H

#include "ui/cli/cli.h"

extern const struct cli_command tui_command_line, tui_resume_command, tui_fork_command, tui_attach_command;

int tui_main(int argc, char **argv);
/* `codex resume` and `codex fork`: without a terminal as resume_main and fork_main of exec.h. */
int tui_resume_main(int argc, char **argv);
int tui_fork_main(int argc, char **argv);
int tui_attach_main(int argc, char **argv);

#endif
