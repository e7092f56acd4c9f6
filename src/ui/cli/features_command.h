/* features_command.h — `codex features`: lists the features, and turns them on and off in config.toml. */
#ifndef UI_FEATURES_COMMAND_H
#define UI_FEATURES_COMMAND_H

#include "base/error.h"
#include "ui/cli/cli.h"

extern const struct cli_command features_command;

/* Returns the exit status: 0; 1 if it failed; 2 for a wrong command line. */
int features_main(int argc, char **argv);

#endif
