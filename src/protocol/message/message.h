/* message.h — the messages of the engine's two queues: submissions go in, events come out.
 *
 * Owns: everything in a message, in one arena. Thread: any, one at a time. */
#ifndef PROTOCOL_MESSAGE_H
#define PROTOCOL_MESSAGE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/list.h"
#include "protocol/record/types.h"

struct shared_text;

/* ---- submissions: an id chosen by the front end, and an Op ---- */

struct submission {
	struct str id;
	struct op op;
	struct str mode_word; /* op.collaboration_mode.mode as the client wrote it; STR_NONE if absent */
	/* private */
	struct list link; /* a node of a submission queue */
	struct arena arena;
};

/* Creates a submission with deep copies of id and op. */
struct submission *submission_create(struct str id, const struct op *op);
/* Decodes a JSON text {"id":…,"op":…}; NULL and err if it is invalid. */
must_check struct submission *submission_decode(struct str json, struct error *err);
void submission_destroy(struct submission *submission);

/* ---- events: the id of the submission that caused it, and an EventMsg ---- */

struct event {
	struct str id; /* sub_id, or "" if no submission caused the event */
	struct event_msg msg;
	/* private */
	struct list link; /* a node of an event queue */
	struct arena arena;
};

/* Creates an event with deep copies of id and body (a struct ev_<tag>, or NULL for a unit event). */
struct event *event_create(struct str id, enum event_tag tag, const void *body);
/* As event_create, but holds a text (NULL: none): its parts in body are not copied. */
struct event *event_create_held(struct str id, enum event_tag tag, const void *body, struct shared_text *held);
/* Writes {"id":…,"msg":{"type":…,…}}. */
void event_encode(const struct event *event, struct json_writer *w);
/* Decodes what event_encode writes. NULL and err if the text is not an event; ERR_unsupported if this version does not
 * know its type. */
must_check struct event *event_decode(struct str json, struct error *err);
void event_destroy(struct event *event);

#endif
