/* agents_command.h — `codex agents`: the tree of a session's agents, once or as it changes. */
#ifndef UI_AGENTS_COMMAND_H
#define UI_AGENTS_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command agents_command;

/* Exit status: 1 if there is no such session or it cannot be read, 2 for a wrong command line. */
int agents_main(int argc, char **argv);

#endif
