/* exec_prompt.h — the prompt of `codex exec`, from its argument, standard input, or both (core 14). */
#ifndef UI_EXEC_PROMPT_H
#define UI_EXEC_PROMPT_H

#include "base/buf.h"

struct error;

/* argument: NULL or "-" to read standard input. Appends UTF-8 to out. Blocks until standard input ends. */
int exec_prompt_read(const char *argument, struct buf *out, struct error *err);
/* The same, but standard input is read for "-" alone. */
int exec_prompt_read_alone(const char *argument, struct buf *out, struct error *err);
/* Asks for a line on the terminal. */
int exec_prompt_ask(struct buf *out, struct error *err);

#endif
