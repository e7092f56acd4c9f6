/* mock_play.h — generates the bytes of one scripted reply on demand.
 *
 * Owns: its state. Borrows: the reply. Thread: loop only. Independent of sockets: the caller sends the bytes and
 * performs the acts that mock_play_next returns. */
#ifndef SERVER_MOCK_PLAY_H
#define SERVER_MOCK_PLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "server/mock/mock_event.h"
#include "server/mock/mock_text.h"

struct json;
struct mock_reply;
struct mock_request;
struct mock_step;

/* The act to perform after sending the bytes. */
enum mock_act {
	MOCK_ACT_MORE,  /* call again when the client can receive more */
	MOCK_ACT_HEAD,  /* send the head unless that was done, then call again */
	MOCK_ACT_WAIT,  /* call again after wait_ms */
	MOCK_ACT_GATE,  /* call again when the gate is open */
	MOCK_ACT_HANG,  /* never call again */
	MOCK_ACT_END,   /* end the response */
	MOCK_ACT_DROP,  /* close without ending the response */
	MOCK_ACT_RESET, /* close with a reset, without ending the response */
	MOCK_ACT_LIMIT, /* a text exceeded its limit: close the connection */
};

struct mock_play {
	/* read-only */
	const struct mock_step *status; /* the step that set the status, or NULL: 200 */
	uint64_t wait_ms;
	struct str gate;
	/* private */
	const struct mock_reply *reply;
	enum mock_api api;
	uint64_t number; /* number of the request, from 1 */
	size_t request_size;
	struct mock_vars vars;
	size_t step;     /* index into the reply's steps */
	size_t inner;    /* index into a repeat's steps */
	uint64_t phase;  /* progress of the current step; 0: not begun */
	struct str text; /* the complete text of the current step: a slice of the script or of `made` */
	struct buf made;
	VEC(size_t) cuts;      /* ends of the deltas of text, if the script lists them */
	struct mock_item item; /* the current item */
	struct buf call_id;
	struct buf open; /* text of the message that "delta" steps append to */
	bool has_open;
	bool has_started;
	bool has_completed;
	bool has_calls;
	unsigned item_count; /* output items begun */
	uint64_t said;       /* bytes of text so far, for the usage */
	const struct json *usage;
};

/* Fails if the request lacks a value that the reply takes from it. mock_play_finish is required in any case. */
must_check int mock_play_init(struct mock_play *play, const struct mock_reply *reply,
                              const struct mock_request *request, uint64_t number, struct error *err);
void mock_play_finish(struct mock_play *play);
/* Appends the next bytes to out: about LIMIT_MOCK_BATCH of them unless one event is larger. */
enum mock_act mock_play_next(struct mock_play *play, struct buf *out);

#endif
