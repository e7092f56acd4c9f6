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
#include "model/model_memo.h"
#include "model/model_stream.h"
#include "protocol/record/enum.h"

struct json;
struct json_writer;
struct model_info;

/* The contents of one request. Slices may be STR_NONE where noted. */
struct model_prompt {
	const struct model_info *info;
	struct str instructions; /* may be absent */
	/* The history: each slice holds one or more items as JSON, separated by commas. Empty slices are skipped.
	 */
	const struct str *input;
	size_t input_count;
	/* The part of the history after the response `fresh_after`, for a server that remembers that response; no id:
	 * unknown. */
	const struct str *fresh;
	size_t fresh_count;
	struct str fresh_after;
	struct str tools;               /* a JSON array; may be absent */
	enum reasoning_effort effort;   /* unset: the model's default */
	const char *effort_word;        /* a word that the enum lacks; NULL: unset */
	enum reasoning_summary summary; /* none: not requested */
	bool has_summary;               /* the user has chosen it: sent to unknown models as well */
	enum verbosity verbosity;       /* unset: the model's default */
	bool is_serial;                 /* disables parallel tool calls */
	/* The lite form of Responses: tools and instructions are items of the history, and a header says so. Other
	 * wires ignore it. */
	bool is_lite;
	/* the server must not store the response, even if the provider is configured to */
	bool is_private;
	bool avoids_socket;       /* goes over HTTP, so that it does not end what is continued on the WebSocket */
	bool is_stored;           /* the server stores the response; set by the client from the provider's settings */
	struct str output_schema; /* JSON Schema of the answer; may be absent */
	struct str thread_id;
	struct str root_thread_id, parent_thread_id; /* set for a subagent; else absent */
	struct str previous_response_id;             /* may be absent */
	struct str turn_state;                       /* from an earlier response of this turn; may be absent */
	struct str subagent; /* the kind of subagent that sends the request; absent for the user's thread */
	/* Set by the client from the provider's settings: */
	enum wire_api wire;
	bool has_flat_tools; /* the server of Responses may not know namespaces: tools are sent under flat names */
	struct str provider; /* its id */
	int64_t max_output_tokens; /* 0: not configured */
	struct str service_tier;   /* as it is sent; STR_NONE: not configured */
	/* Identifies the history while items are only appended to it; 0: unknown. */
	uint64_t history_id;
	struct model_memo **memo; /* where the converted history is kept; NULL: nowhere */
};

struct model_request {
	/* read-only */
	VEC(struct str) body;    /* slices in order */
	VEC(struct str) headers; /* "name: value" */
	enum wire_api wire;
	struct str provider;
	struct model_memo *memo; /* the converted history and names, a reference; NULL: the wire needs none */
	/* For the WebSocket of Responses: the slices after the first one that are the history, and what replaces them
	 * if the server remembers the response `fresh_after`. */
	size_t input_slices;
	bool may_use_socket, has_fresh;
	VEC(struct str) fresh;
	struct str fresh_after;
	/* private to the wire */
	struct buf head, tail, own;
	/* private */
	struct arena arena;
};

struct model_wire {
	const char *api;      /* its name, for errors */
	const char *end_mark; /* what a stream that was cut lacks, for errors */
	/* Adds the slices of the body to the request, whose buffers are initialised. */
	int (*write_body)(struct model_request *request, const struct model_prompt *prompt, struct error *err);
	const struct model_reader *reader;
};

/* The implementations, one for each value of enum wire_api. */
extern const struct model_wire model_wire_responses, model_wire_chat, model_wire_messages;

/* ---- for wires: tools ---- */

enum { WIRE_NAME_MAX = 64 };

struct wire_tool {
	struct str name; /* flat */
	struct str description;
	struct str parameters; /* the JSON Schema of an object */
	bool is_strict;
};

/* Returns the reasoning effort that is asked for, or the model's default; NULL: none. Borrowed from the prompt. */
const char *wire_effort(const struct model_prompt *prompt);
/* True for the kinds of tools that wire_read_tools returns, in the order in which they stand. */
bool wire_is_call_tool(const struct json *tool);
/* Returns the functions in a list of tools: free-form tools become functions with a string `input`, namespaces are
 * flattened, and tools that the server would run are left out. Sets names of the request's memo; the result is in the
 * request's arena. */
const struct wire_tool *wire_read_tools(struct model_request *request, struct str tools, size_t *ret_count);
/* Reads the tools of the prompt and writes them to memo->tools, unless that was done before. */
void wire_keep_tools(struct model_request *request, const struct model_prompt *prompt,
                     void (*write)(struct json_writer *w, const struct wire_tool *tools, size_t count));
/* Returns the flat name of a call in the history; from the request's arena or memo. */
struct str wire_call_name(struct model_request *request, const struct json *call);
/* Returns the tool that the model calls by a flat name; NULL: it is not in the list. */
const struct model_name *wire_find_name(const struct model_request *request, struct str flat);
/* Returns the arguments of a call as the text of a JSON object; "{}" if they are broken. From the call or the arena. */
struct str wire_arguments(struct arena *arena, const struct json *call);

/* ---- for wires: the kept part of the history ---- */

/* Sets request->memo. has_thoughts: the wire sends thoughts. */
void wire_attach_memo(struct model_request *request, const struct model_prompt *prompt, bool has_thoughts);
/* Adds the bytes [from, to) of the rounds to the slices of the request: of those in the memo, then of request->own. */
void wire_add_rounds(struct model_request *request, size_t from, size_t to);
/* ERR_limit if a buffer of the request is over its maximum, or the body is longer than LIMIT_REQUEST_BODY. */
must_check int wire_check_length(const struct model_request *request, struct error *err);

/* ---- for wires: content ---- */

/* Appends the texts of a message's content, or of a call's output, with this separator between them. */
void wire_append_text(struct buf *out, const struct json *content, const char *separator);
/* Returns the URL of an image part; STR_NONE: the part is not an image. */
struct str wire_image_url(const struct json *part);
bool wire_has_image(const struct json *content);

#endif
