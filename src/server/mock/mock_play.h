/* mock_play.h — one scripted reply as a stream of bytes, made as fast as it is taken.
 *
 * Owns: what it needs to go on. Borrows: the reply. Thread: loop only. Knows no sockets: the caller sends the bytes
 * and does what mock_play_next asks for. */
#ifndef SERVER_MOCK_PLAY_H
#define SERVER_MOCK_PLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "server/mock/mock_event.h"
#include "server/mock/mock_text.h"

struct error;
struct json;
struct mock_reply;
struct mock_request;
struct mock_step;

/* What is to be done after the bytes have been sent. */
enum mock_act {
	MOCK_ACT_MORE,  /* call again when there is room */
	MOCK_ACT_HEAD,  /* send the head if it is not out yet, then call again */
	MOCK_ACT_WAIT,  /* call again after wait_ms */
	MOCK_ACT_GATE,  /* call again when the gate is open */
	MOCK_ACT_HANG,  /* never call again */
	MOCK_ACT_END,   /* end the answer */
	MOCK_ACT_DROP,  /* close without an end */
	MOCK_ACT_RESET, /* the same with a reset */
	MOCK_ACT_LIMIT, /* a text grew past its limit: close */
};

struct mock_play {
	/* read-only */
	const struct mock_step *status; /* the step that set it, or NULL: 200 */
	uint64_t wait_ms;
	struct str gate;
	/* private */
	const struct mock_reply *reply;
	uint64_t number; /* of the request, from 1 */
	size_t request_size;
	struct mock_vars vars;
	size_t step;     /* index into the reply's steps */
	size_t inner;    /* index into a repeat's steps */
	uint64_t phase;  /* how far the current step is; 0: not begun */
	struct str text; /* the whole text of the current step: a slice of the script or of `made` */
	struct buf made;
	VEC(size_t) cuts;      /* ends of the pieces of text, if the script lists them */
	struct mock_item item; /* the one on its way */
	struct buf call_id;
	struct buf open; /* text of the message that "delta" steps add to */
	bool has_open;
	bool has_started;
	bool has_completed;
	unsigned item_count; /* output items begun */
	uint64_t said;       /* bytes of text, for usage */
	const struct json *usage;
};

/* err if a value to be taken is not in the request. To be finished in both cases. */
int mock_play_init(struct mock_play *play, const struct mock_reply *reply, const struct mock_request *request,
                   uint64_t number, struct error *err);
void mock_play_finish(struct mock_play *play);
/* Appends the next bytes to out: about LIMIT_MOCK_BATCH of them unless one event is larger. */
enum mock_act mock_play_next(struct mock_play *play, struct buf *out);

#endif
