/* model_request.h — a prompt as a request of the Responses API.
 *
 * The body is a list of slices: a head and a tail written here, and between them the caller's history, not copied.
 * Owns: head, tail and headers. Borrows: everything that the prompt refers to, until model_request_finish.
 * Thread: any. Errors: ERR_limit. */
#ifndef MODEL_MODEL_REQUEST_H
#define MODEL_MODEL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "protocol/record/enum.h"

struct model_info;

/* The contents of one request. Slices may be absent where noted. */
struct model_prompt {
	const struct model_info *info;
	struct str instructions; /* may be absent */
	/* The history: each slice holds one or more items as JSON, separated by commas. Empty slices are skipped.
	 */
	const struct str *input;
	size_t input_count;
	struct str tools;               /* a JSON array; may be absent */
	enum reasoning_effort effort;   /* unset: the model's default */
	enum reasoning_summary summary; /* none: not requested */
	enum verbosity verbosity;       /* unset: the model's default */
	bool is_serial;                 /* disables parallel tool calls */
	bool is_private;                /* the server must not store the response; overrides the provider's settings */
	bool is_stored;           /* the server stores the response; set by the client from the provider's settings */
	struct str output_schema; /* JSON the answer must conform to; may be absent */
	struct str thread_id;
	struct str root_thread_id, parent_thread_id; /* of a subagent; else absent */
	struct str previous_response_id;             /* may be absent */
	struct str turn_state;                       /* of an earlier response in this turn; may be absent */
	struct str subagent; /* kind of the sender if it is not the user's thread; may be absent */
};

struct model_request {
	/* read-only */
	VEC(struct str) body;    /* slices in order */
	VEC(struct str) headers; /* "name: value" */
	/* private */
	struct buf head, tail;
	struct arena arena;
};

/* Initialises request; model_request_finish is required also after a failure. */
must_check int model_request_init(struct model_request *request, const struct model_prompt *prompt, struct error *err);
/* Adds a header, copied. */
void model_request_add_header(struct model_request *request, const char *name, struct str value);
void model_request_finish(struct model_request *request);

#endif
