/* debug_prompt.h — `codex debug prompt-input`: the input that the model would get, without asking it. */
#ifndef UI_DEBUG_PROMPT_H
#define UI_DEBUG_PROMPT_H

#include "ui/cli/cli.h"

extern const struct cli_command debug_prompt_command;
int debug_prompt_main(int argc, char **argv);

#endif
