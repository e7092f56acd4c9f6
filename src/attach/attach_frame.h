/* attach_frame.h — the lines between a running session and those who are attached to it.
 *
 * The session sends a greeting, {"attach":1,…}, then events as the event protocol has them ({"id":…,"msg":…}):
 * session_configured, task_started if a turn runs, the pending requests, and from then on each event. An event that
 * requests something has a number, "seq", because call ids are the provider's: agents may use the same ones, and a
 * later request may have that of an earlier one. If a subagent asks, "from" is its name. When a request was answered
 * the others get {"answered":"ID","task":"ID","seq":N}; the task is that of the event that asked. The other side sends
 * submissions,
 * {"id":…,"op":…}, and with an answer the number of its request, "seq". Earlier versions send no number, or no task.
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
	struct str agents; /* JSON: [{"id":…,"name":…},…], the subagents that it has begun */
};

void attach_greeting_write(const struct attach_greeting *greeting, struct buf *out);
/* Texts are copied to the arena. ERR_unsupported: a version that this program does not know. */
must_check int attach_greeting_read(struct str line, struct arena *arena, struct attach_greeting *ret,
                                    struct error *err);

/* A request that was answered. */
struct attach_answered {
	struct str request, task; /* task: STR_NONE if it is unknown */
	uint64_t seq;             /* 0: unknown */
};
void attach_answered_write(const struct event *request, uint64_t seq, struct buf *out);
/* False: the line is something else. */
bool attach_answered_read(struct str line, struct arena *arena, struct attach_answered *ret);
/* Returns the number in a line, 0: none. */
uint64_t attach_seq(struct str line);
/* Returns the name of the subagent that makes the request of this line, STR_NONE: none. */
struct str attach_from(struct str line, struct arena *arena);

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
/* Has an approval or the answers to questions name their request by another id; borrowed. */
void attach_answer_rename(const struct op *op, struct str id);
/* True for an Op that answers a request. */
bool attach_is_answer(const struct op *op);

#endif
