/* model_request.h — a prompt as the Responses API wants it.
 *
 * The body is a list of slices: a head and a tail written here, and between them the history exactly as the caller
 * keeps it, never copied. Owns: head, tail and headers. Borrows: everything the prompt points to, until
 * model_request_finish. Thread: any. Errors: ERR_limit. Source: core 1.1, 1.2. */
#ifndef MODEL_MODEL_REQUEST_H
#define MODEL_MODEL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "protocol/record/enum.h"

struct error;
struct model_info;

/* Everything one response is asked for with. Slices may be absent where it says so. */
struct model_prompt {
	const struct model_info *info;
	struct str instructions; /* may be absent */
	/* The history: each slice holds one or more items as JSON, separated by commas. Empty slices are passed over.
	 */
	const struct str *input;
	size_t input_count;
	struct str tools;               /* a JSON array; may be absent */
	enum reasoning_effort effort;   /* unset: the model's default */
	enum reasoning_summary summary; /* none: not asked for */
	enum verbosity verbosity;       /* unset: the model's default */
	bool is_serial;                 /* one tool call at a time, even if the model can do more */
	bool is_private;          /* the server is to keep nothing, whatever its provider's settings are */
	bool is_stored;           /* the server is to keep the response; set by the client as the provider wants */
	struct str output_schema; /* JSON the answer must conform to; may be absent */
	struct str thread_id;
	struct str root_thread_id, parent_thread_id; /* of a subagent; else absent */
	struct str previous_response_id; /* may be absent */
	struct str turn_state;           /* of an earlier answer in this turn; may be absent */
	struct str subagent;             /* who asks, if it is not the user's own thread; may be absent */
};

struct model_request {
	/* read-only */
	VEC(struct str) body;    /* to be sent one after the other */
	VEC(struct str) headers; /* "name: value" */
	/* private */
	struct buf head, tail;
	struct arena arena;
};

/* Fills request; end it with model_request_finish also when this fails. */
int model_request_init(struct model_request *request, const struct model_prompt *prompt, struct error *err);
/* Adds a header, copied. */
void model_request_add_header(struct model_request *request, const char *name, struct str value);
void model_request_finish(struct model_request *request);

#endif
