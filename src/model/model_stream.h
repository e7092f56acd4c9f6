/* model_stream.h — decodes the events of a model's response to struct response_event, by the reader of its wire.
 *
 * Owns: a scratch arena. Data of an event is borrowed until on_event returns. Thread: any, one at a time.
 * Tolerates differences between servers: text that is not JSON, unknown types and missing members are ignored. */
#ifndef MODEL_MODEL_STREAM_H
#define MODEL_MODEL_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/model_error.h"

struct json;
struct rate_limits;
struct token_usage;

enum response_event_type {
#define RESPONSE_EVENT(name, wire) RESPONSE_##name,
#include "model/response_event.def"
#undef RESPONSE_EVENT
	RESPONSE_rate_limits, /* from the response's head */
	RESPONSE_turn_state,  /* from the response's head: text is sent with the turn's next requests */
	RESPONSE_served_by,   /* from the response's head: text is the model that answers */
	RESPONSE_count
};

struct response_event {
	enum response_event_type type;
	/* for created and completed the response id; for deltas and parts the item id; may be absent */
	struct str id;
	struct str text; /* for deltas, turn_state and served_by */
	/* index of the summary (summary_part, summary_delta) or of the content (reasoning_delta) */
	int64_t index;
	const struct json *item;          /* for item_added and item_done; item->span is its JSON as sent */
	const struct token_usage *usage;  /* for completed; NULL if the server did not report it */
	int64_t cache_writes;             /* for completed: tokens that were added to the provider's cache */
	const struct rate_limits *limits; /* for rate_limits */
	bool is_paused;                   /* for completed: the server wants to be asked to continue */
};

/* Returns the event's name in the Responses API, which all wires are reduced to; NULL: it is not an event of a stream.
 */
const char *model_stream_kind(enum response_event_type type);

typedef void (*response_event_fn)(const struct response_event *event, void *self);

enum model_stream_state { MODEL_STREAM_OPEN, MODEL_STREAM_COMPLETED, MODEL_STREAM_FAILED };

struct model_request;
struct model_stream;

/* The part of a wire that reads a response. */
struct model_reader {
	/* Reads one event; name is its SSE name, for servers that send the type only there. */
	void (*read)(struct model_stream *stream, struct str name, const struct json *root);
	/* Called when an open stream ends; is_marked: by "[DONE]". The stream stays open if the response is not
	 * complete. NULL: only an event completes a response. */
	void (*end)(struct model_stream *stream, bool is_marked);
	/* Make and free the state of a reader that has one. */
	void *(*open)(void);
	void (*close)(void *reading);
};

struct model_stream {
	/* read-only */
	enum model_stream_state state;
	bool has_events;          /* at least one JSON object was received */
	bool is_paused;           /* the response is complete, but the server wants to be asked to continue */
	bool is_ending;           /* the response is complete, but usage or an end mark may follow */
	struct model_error error; /* in state FAILED: the server's error */
	int64_t cache_writes;     /* tokens of the input that the provider has added to its cache */
	struct str response_id;   /* in state COMPLETED; owned */
	/* in state FAILED: an error event with an HTTP status, as JSON; owned. STR_NONE: the error has none */
	struct str refusal;
	/* for the reader */
	const struct model_request *request; /* that is answered; NULL: unknown */
	struct str provider;                 /* the provider's id */
	void *reading;                       /* its state */
	/* private */
	response_event_fn on_event;
	void *self;
	const struct model_reader *reader;
	struct arena arena;
};

/* on_event receives all events except failed, incomplete and error, which set `error` instead. */
void model_stream_init(struct model_stream *stream, const struct model_reader *reader, response_event_fn on_event,
                       void *self);
/* Feeds the data of one event. name is its SSE name, for servers that send the type only there. False after the
 * stream has completed or failed; further events are ignored. */
bool model_stream_feed(struct model_stream *stream, struct str name, struct str data);
/* Reports that no event follows; is_marked: because of "[DONE]", which model_stream_feed reports itself. */
void model_stream_end(struct model_stream *stream, bool is_marked);
void model_stream_finish(struct model_stream *stream);

/* ---- for readers ---- */

void model_stream_emit(struct model_stream *stream, const struct response_event *event);
/* Emits item_added or item_done; ignored if the item is not an object. */
void model_stream_emit_item(struct model_stream *stream, enum response_event_type type, const struct json *item);
/* Ends the stream with a complete response; usage may be NULL. */
void model_stream_complete(struct model_stream *stream, struct str id, const struct token_usage *usage);
/* End the stream with an error: that of an `error` object (NULL if it is missing), or an incomplete response. */
void model_stream_fail(struct model_stream *stream, const struct json *failure);
/* Ends the stream with an error event that stands for an answer with an HTTP status. */
void model_stream_fail_status(struct model_stream *stream, const struct json *root);
void model_stream_fail_incomplete(struct model_stream *stream, struct str reason);
/* Ends the stream with an error of a wire other than Responses, as struct model_refusal describes it. */
void model_stream_refuse(struct model_stream *stream, const struct model_refusal *refusal);
/* Ends the stream because the response exceeds a limit. */
void model_stream_fail_long(struct model_stream *stream);

#endif
