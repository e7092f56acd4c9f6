/* execpolicy_command.h — `codex execpolicy check`: what rules say of a command, without running it. */
#ifndef UI_EXECPOLICY_COMMAND_H
#define UI_EXECPOLICY_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command execpolicy_command;

/* Exit status: 0 also if no rule matches, 1 for rules that cannot be read, 2 for a wrong command line. */
int execpolicy_main(int argc, char **argv);

#endif
