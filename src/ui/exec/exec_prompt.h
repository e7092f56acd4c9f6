/* exec_prompt.h — reads the input of `codex exec`: the prompt from its argument, standard input or both, and the
 * images. */
#ifndef UI_EXEC_PROMPT_H
#define UI_EXEC_PROMPT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "protocol/record/types.h"
#include "ui/cli/cli.h"

/* argument: NULL or "-" to read standard input. Appends UTF-8 to out. Blocks until standard input ends. */
must_check int exec_prompt_read(const char *argument, struct buf *out, struct error *err);
/* As exec_prompt_read, but standard input is read for "-" only. */
must_check int exec_prompt_read_alone(const char *argument, struct buf *out, struct error *err);
/* Asks for a line on the terminal. */
must_check int exec_prompt_ask(struct buf *out, struct error *err);
/* Returns ERR_limit for a prompt of more than LIMIT_INPUT_CHARS characters. */
must_check int exec_prompt_check(const struct buf *prompt, struct error *err);

/* Reads and discards the rest of a pipe on standard input, up to its end, LIMIT_DRAIN, LIMIT_DRAIN_MS or
 * LIMIT_DRAIN_SILENCE_MS. Otherwise a program that writes the prompt before it reads the exit status would get
 * EPIPE, and its user would not see why the run was refused. */
void exec_prompt_drain(void);

/* The files given with --image. Owns the paths, which are absolute. */
struct exec_images {
	struct input_local_image *items;
	size_t count;
	size_t cap;
};

/* Each value is a file or several separated by commas; paths are relative to the process's working folder, not to
 * --cd. A file that cannot be read causes a warning on stderr; the engine reports it to the model. */
void exec_images_init(struct exec_images *images, const struct cli_list *values);
void exec_images_finish(struct exec_images *images);

#endif
