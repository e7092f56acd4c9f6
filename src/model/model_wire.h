/* model_wire.h — a wire: how a conversation becomes the body of a request, and how a response becomes items.
 *
 * The history of a session consists of items of the Responses API on every wire. A wire is a pair of pure functions:
 * one writes the body, the other (model_stream.h) reads the events of the response. Thread: any, one at a time. */
#ifndef MODEL_MODEL_WIRE_H
#define MODEL_MODEL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/model_stream.h"
#include "protocol/record/enum.h"

struct model_info;

/* The contents of one request. Slices may be STR_NONE where noted. */
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
	/* the server must not store the response, even if the provider is configured to */
	bool is_private;
	bool is_stored;           /* the server stores the response; set by the client from the provider's settings */
	struct str output_schema; /* JSON Schema of the answer; may be absent */
	struct str thread_id;
	struct str root_thread_id, parent_thread_id; /* set for a subagent; else absent */
	struct str previous_response_id;             /* may be absent */
	struct str turn_state;                       /* from an earlier response of this turn; may be absent */
	struct str subagent; /* the kind of subagent that sends the request; absent for the user's thread */
	/* Set by the client from the provider's settings: */
	enum wire_api wire;
	struct str provider; /* its id */
};

struct model_request {
	/* read-only */
	VEC(struct str) body;    /* slices in order */
	VEC(struct str) headers; /* "name: value" */
	/* private to the wire */
	struct buf head, tail;
	/* private */
	struct arena arena;
};

struct model_wire {
	/* Adds the slices of the body to the request, whose buffers are initialised. */
	int (*write_body)(struct model_request *request, const struct model_prompt *prompt, struct error *err);
	const struct model_reader *reader;
};

/* The implementations, one for each value of enum wire_api. */
extern const struct model_wire model_wire_responses;

#endif
