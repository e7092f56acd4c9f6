/* debug_models.h — the command `codex debug models`. */
#ifndef UI_DEBUG_MODELS_H
#define UI_DEBUG_MODELS_H

#include "ui/cli/cli.h"

extern const struct cli_command debug_command;

int debug_main(int argc, char **argv);

#endif
