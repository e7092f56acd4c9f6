/* exec_prompt.h — the prompt of `codex exec`, from its argument, standard input, or both. */
#ifndef UI_EXEC_PROMPT_H
#define UI_EXEC_PROMPT_H

#include "base/buf.h"
#include "base/error.h"

/* argument: NULL or "-" to read standard input. Appends UTF-8 to out. Blocks until standard input ends. */
must_check int exec_prompt_read(const char *argument, struct buf *out, struct error *err);
/* The same, but standard input is read for "-" alone. */
must_check int exec_prompt_read_alone(const char *argument, struct buf *out, struct error *err);
/* Asks for a line on the terminal. */
must_check int exec_prompt_ask(struct buf *out, struct error *err);
/* ERR_limit for a prompt of more than LIMIT_INPUT_CHARS characters. */
must_check int exec_prompt_check(const struct buf *prompt, struct error *err);

/* Reads and drops what a pipe on standard input still holds, until its end, LIMIT_DRAIN, LIMIT_DRAIN_MS or
 * LIMIT_DRAIN_SILENCE_MS. A program that writes the prompt before it looks at the exit status would otherwise die of
 * EPIPE, and its user never see why the run was refused. */
void exec_prompt_drain(void);

#endif
