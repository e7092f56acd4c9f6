/* process_input.h — the input of one command: a pipe, or the engine's side of its terminal.
 *
 * Owns: the descriptor and the bytes that are not written yet, at most LIMIT_EXEC_STDIN. Embedded in struct process,
 * which frees it only after on_closed has run. Thread: the loop's. */
#ifndef PROCESS_PROCESS_INPUT_H
#define PROCESS_PROCESS_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "base/error.h"
#include "base/list.h"
#include "base/str.h"

struct error;
struct loop;

/* on_closed runs on the loop when libuv no longer uses the handle. */
typedef void (*process_input_closed_fn)(void *self);

struct process_input {
	uv_pipe_t pipe;
	bool is_open;
	/* private */
	bool has_terminal;
	bool is_held;      /* the command does not control the terminal yet */
	bool is_last;      /* close the input after the pending bytes */
	bool is_line_open; /* the last byte written is not a line end */
	size_t pending;    /* in bytes */
	size_t most;       /* of pending; set by the owner */
	struct list held;  /* writes held back until process_input_release, in order */
	process_input_closed_fn on_closed;
	void *self;
};

/* Sets up a closed input. */
void process_input_init(struct process_input *input, process_input_closed_fn on_closed, void *self);
/* Takes ownership of fd. With a terminal, bytes are held back until process_input_release. */
void process_input_open(struct process_input *input, struct loop *loop, int fd, bool has_terminal);
/* Frees the bytes that were held back. The input must be closed. */
void process_input_finish(struct process_input *input);

/* Copies bytes. ERR_busy if `most` bytes are pending, ERR_io if the input is closed. */
must_check int process_input_write(struct process_input *input, struct str bytes, struct error *err);
/* Writes the bytes that were held back: the command controls its terminal now. */
void process_input_release(struct process_input *input);
/* Ends the input after the pending bytes; at a terminal with Ctrl-D. */
void process_input_end(struct process_input *input);
/* Closes at once; pending bytes are lost. */
void process_input_close(struct process_input *input);

#endif
