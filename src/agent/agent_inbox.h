/* agent_inbox.h — two queues of messages for one agent: interrupts, which go first, and the others.
 *
 * Owns: its messages; the caller owns one that it takes out. Emits no events (agent.h does).
 * Bounds: LIMIT_AGENT_INBOX messages of LIMIT_AGENT_MESSAGE bytes; results of other agents are always accepted. */
#ifndef AGENT_AGENT_INBOX_H
#define AGENT_AGENT_INBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"
#include "base/str.h"
#include "protocol/record/enum.h"

struct agent_message {
	/* read-only */
	uint64_t sender;
	bool is_interrupt;
	enum agent_outcome outcome; /* not none: the result of the sender's work */
	int64_t at_ms;
	struct str text; /* absent: a result without text */
	/* private */
	struct list link;
	uint64_t order; /* of arrival */
};

struct agent_inbox {
	/* read-only */
	size_t regular_count, interrupt_count;
	/* private */
	struct list regular, interrupts;
	uint64_t arrived;
};

void agent_inbox_init(struct agent_inbox *inbox);
void agent_inbox_finish(struct agent_inbox *inbox);

/* Copies the message. ERR_limit: the inbox is full, or the text too long. */
must_check int agent_inbox_add(struct agent_inbox *inbox, const struct agent_message *message, struct error *err);
/* Removes the next message, now the caller's, interrupts first; NULL: the inbox is empty. */
struct agent_message *agent_inbox_take(struct agent_inbox *inbox);
/* The same, but the oldest of that sender. */
struct agent_message *agent_inbox_take_from(struct agent_inbox *inbox, uint64_t sender);
/* The same, but the oldest of that sender in one of the queues. */
struct agent_message *agent_inbox_take_kind(struct agent_inbox *inbox, uint64_t sender, bool is_interrupt);
/* The oldest message of that sender, which stays in the inbox; borrowed. NULL: there is no such message. */
const struct agent_message *agent_inbox_find(const struct agent_inbox *inbox, uint64_t sender);
bool agent_inbox_is_empty(const struct agent_inbox *inbox);
void agent_message_destroy(struct agent_message *message); /* NULL is fine */

#endif
