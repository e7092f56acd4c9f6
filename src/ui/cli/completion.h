/* completion.h — `codex completion`: scripts that complete command lines in five shells.
 *
 * Generated from the rows that parsing and --help use. */
#ifndef UI_COMPLETION_H
#define UI_COMPLETION_H

#include "ui/cli/cli.h"

extern const struct cli_command completion_command;

/* program: the command at which completion starts. Prints the script and returns the exit status. */
int completion_main(const struct cli_command *program, int argc, char **argv);

#endif
