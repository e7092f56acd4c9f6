/* attach_frame.h — the lines between a running session and those who are attached to it.
 *
 * The session sends a greeting, {"attach":1,…}, then events as the event protocol has them ({"id":…,"msg":…}):
 * session_configured, task_started if a turn runs, the pending requests, and from then on each event. When a request
 * was answered the others get {"answered":"ID","task":"ID"}; the task is that of the event that asked, because agents
 * may use the same call ids. Earlier versions send no task. The other side sends submissions, {"id":…,"op":…}.
 * Owns nothing. Any thread. */
#ifndef ATTACH_ATTACH_FRAME_H
#define ATTACH_ATTACH_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "protocol/message/message.h"

struct buf;

enum { ATTACH_VERSION = 1 };

/* The greeting. STR_NONE: none. */
struct attach_greeting {
	struct str session_id, name, cwd, program; /* program: "tui", "exec" */
	struct str rollout;                        /* its path */
	uint64_t recorded;                         /* bytes of the rollout that hold what came before the first event */
};

void attach_greeting_write(const struct attach_greeting *greeting, struct buf *out);
/* Texts are copied to the arena. ERR_unsupported: a version that this program does not know. */
must_check int attach_greeting_read(struct str line, struct arena *arena, struct attach_greeting *ret,
                                    struct error *err);

void attach_answered_write(const struct event *request, struct buf *out);
/* False: the line is something else. *ret_task: STR_NONE if the line has none. */
bool attach_answered_read(struct str line, struct arena *arena, struct str *ret_request, struct str *ret_task);

/* Returns the id by which a request is withdrawn, STR_NONE for an event that requests nothing. */
struct str attach_request_id(const struct event *event);
/* Finds the request that the Op answers among those that are pending, the oldest added first, as the engine does: a
 * request of that id, else the oldest one of the Task. is_ambiguous: requests of several agents match, and the engine
 * ignores the Op. */
struct attach_match {
	const struct op *op;
	const struct event *found; /* NULL: none */
	bool is_ambiguous;
	bool is_named; /* private: found has the id */
};
void attach_match_add(struct attach_match *match, const struct event *request);
/* Returns the id of the request that the Op answers, STR_NONE for an Op that answers none. */
struct str attach_answer_id(const struct op *op);
/* True for an Op that answers a request. */
bool attach_is_answer(const struct op *op);

#endif
