/* features_command.h — `codex features`: lists the features, and turns them on and off in config.toml; and the check of
 * the names that other commands take. */
#ifndef UI_FEATURES_COMMAND_H
#define UI_FEATURES_COMMAND_H

#include "base/error.h"
#include "ui/cli/cli.h"

extern const struct cli_command features_command;

/* Returns the exit status: 0; 1 if it failed; 2 for a wrong command line. */
int features_main(int argc, char **argv);

/* 0 if the feature is known, else ERR_config and a message that suggests the nearest name. */
must_check int features_check(const char *name, struct error *err);

#endif
