/* agents_command.h — `codex agents`: prints the tree of a session's agents, once or on every change. */
#ifndef UI_AGENTS_COMMAND_H
#define UI_AGENTS_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command agents_command;

/* Returns the exit status: 1 if the session does not exist or cannot be read, 2 for a wrong command line. */
int agents_main(int argc, char **argv);

#endif
