/* execpolicy_command.h — `codex execpolicy check`: applies rules to a command without running it. */
#ifndef UI_EXECPOLICY_COMMAND_H
#define UI_EXECPOLICY_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command execpolicy_command;

/* Returns the exit status: 0 even if no rule matches, 1 for rules that cannot be read, 2 for a wrong command line. */
int execpolicy_main(int argc, char **argv);

#endif
