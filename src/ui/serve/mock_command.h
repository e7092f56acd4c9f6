/* mock_command.h — `codex mock-model`: the scripted model as a program (docs/mock-model.md). */
#ifndef UI_MOCK_COMMAND_H
#define UI_MOCK_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command mock_model_command;

/* Serves until SIGINT or SIGTERM. Returns the exit status: 0 if every request matched the script, else 1; 2 for an
 * invalid command line. */
int mock_model_main(int argc, char **argv);

#endif
