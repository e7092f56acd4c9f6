/* queue_command.h — `codex queue`: a message for a session, sent when its turn ends or when it is resumed. */
#ifndef UI_QUEUE_COMMAND_H
#define UI_QUEUE_COMMAND_H

#include "ui/cli/cli.h"

extern const struct cli_command queue_command;
int queue_main(int argc, char **argv);

#endif
