/* model_stream.h — the events of a model's answer, one JSON text after the other, as struct response_event.
 *
 * Owns: a scratch arena. What an event points to is borrowed until on_event returns. Thread: any, one at a time.
 * Forgiving where servers differ: text that is no JSON, unknown types and missing members are passed over.
 * Source: core 1.7; app-server-wire 14. */
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
	RESPONSE_rate_limits, /* from the head of the answer */
	RESPONSE_turn_state,  /* from the head of the answer: text goes out with the turn's next requests */
	RESPONSE_served_by,   /* from the head of the answer: text is the model that answers */
	RESPONSE_count
};

struct response_event {
	enum response_event_type type;
	struct str id;           /* created, completed: the response's; deltas and parts: the item's. May be absent */
	struct str text;         /* deltas, turn_state, served_by */
	int64_t index;           /* summary_part, summary_delta: which summary; reasoning_delta: which content */
	const struct json *item; /* item_added, item_done; item->span is its JSON as sent */
	const struct token_usage *usage;  /* completed; NULL if the server did not say */
	const struct rate_limits *limits; /* rate_limits */
};

typedef void (*response_event_fn)(const struct response_event *event, void *self);

enum model_stream_state { MODEL_STREAM_OPEN, MODEL_STREAM_COMPLETED, MODEL_STREAM_FAILED };

struct model_stream {
	/* read-only */
	enum model_stream_state state;
	bool has_events;          /* at least one JSON object came */
	struct model_error error; /* once FAILED: what the server said */
	/* private */
	response_event_fn on_event;
	void *self;
	struct arena arena;
};

/* on_event gets everything but failed, incomplete and error, which become `error`. */
void model_stream_init(struct model_stream *stream, response_event_fn on_event, void *self);
/* The data of one event, and its SSE name for servers that put the type only there. False once the stream is
 * completed or failed: what follows is of no interest. */
bool model_stream_feed(struct model_stream *stream, struct str name, struct str data);
void model_stream_finish(struct model_stream *stream);

#endif
