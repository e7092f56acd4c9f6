/* absent_command.h — commands of codex 0.169 that this version lacks. They name the alternative. */
#ifndef UI_ABSENT_COMMAND_H
#define UI_ABSENT_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command apply_command, cloud_command, plugin_command, remote_control_command;

/* Return the exit status: 0 for --help, 1 otherwise. */
int apply_main(int argc, char **argv);
int cloud_main(int argc, char **argv);
int plugin_main(int argc, char **argv);
int remote_control_main(int argc, char **argv);

#endif
