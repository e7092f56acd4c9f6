/* remote_input.h — requests about a command that runs in an environment: its input, until the server has answered that
 * it took it, its output and its end.
 *
 * Each request has a number, by which the server recognizes one that is sent again over a resumed link. At most
 * LIMIT_EXEC_STDIN bytes are pending. Owns: these bytes. Loop thread only. */
#ifndef REMOTE_REMOTE_INPUT_H
#define REMOTE_REMOTE_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

struct exec_link;

struct remote_write {
	struct buf bytes;
	unsigned number; /* 0: never sent */
	int64_t id;      /* of the request; 0: it must be sent */
};

struct remote_input {
	/* private */
	VEC(struct remote_write) writes; /* in their order */
	size_t pending;
	unsigned count; /* of numbers */
};

/* ERR_busy: the command does not read its input. */
must_check int remote_input_add(struct remote_input *input, struct str bytes, struct error *err);
/* Sends what must be sent. */
void remote_input_send(struct remote_input *input, struct exec_link *link, const char *process);
/* Called for each answer, a refusal included: an answered request leaves room for others. */
void remote_input_answer(struct remote_input *input, int64_t id);
/* The link was lost: what has no answer must be sent again. */
void remote_input_lose(struct remote_input *input);
void remote_input_finish(struct remote_input *input);

/* Reads the output after the message of this number, at most LIMIT_ENVIRONMENT_MISSED bytes; returns the request. */
int64_t remote_request_read(struct exec_link *link, const char *process, int64_t after);
/* Asks the server to end the process. */
void remote_request_end(struct exec_link *link, const char *process);

#endif
