/* session_facts.h — what a list shows of a session, gathered from its events and submissions.
 *
 * Owns: copies of the texts, and of the requests that wait for an answer. Loop thread only. */
#ifndef SERVER_SESSION_FACTS_H
#define SERVER_SESSION_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/str.h"

struct attach_answered;
struct event;
struct json_writer;
struct op;

struct session_facts {
	/* private */
	char *thread_id, *name, *prompt, *cwd, *model; /* NULL: unknown yet */
	struct list waiting;                           /* of struct request, the oldest first */
	uint64_t peer;                                 /* the number there of the event that comes next; 0: none */
	bool is_running;
	int64_t updated_at; /* Unix time in seconds */
};

void session_facts_init(struct session_facts *facts);
void session_facts_finish(struct session_facts *facts);
/* These return true if a list of sessions shows something else now. seq: the number of the event. */
bool session_facts_on_event(struct session_facts *facts, const struct event *event, uint64_t seq);
/* *ret_peer: the number of the request in the process in which the session runs; 0: none. */
bool session_facts_on_op(struct session_facts *facts, const struct op *op, uint64_t *ret_peer);
/* The request was answered elsewhere, or has ended. */
bool session_facts_on_answer(struct session_facts *facts, const struct attach_answered *answered);
/* True if the request that the event with this number makes is open, and the Op answers it. */
bool session_facts_has_open(const struct session_facts *facts, uint64_t seq, const struct op *op);
/* Returns running, blocked or idle, as far as the events say. */
const char *session_facts_state(const struct session_facts *facts);
/* Writes the members thread_id, title, cwd, model, waiting, waiting_in, waiting_seq and updated_at. */
void session_facts_write(const struct session_facts *facts, struct json_writer *w);

#endif
