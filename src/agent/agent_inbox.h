/* agent_inbox.h — two queues of messages for one agent: interrupts, which are delivered first, and other messages.
 *
 * Owns: its messages; the caller owns one that it takes out. Emits no events (agent.h does). Bounds:
 * LIMIT_AGENT_INBOX messages of LIMIT_AGENT_MESSAGE bytes; results of other agents are always accepted. */
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
	bool is_quiet;              /* begins no turn of an idle agent */
	enum agent_outcome outcome; /* agent_outcome_none, or this message is the result of the sender's work */
	int64_t at_ms;
	struct str text; /* STR_NONE: a result without text */
	/* private */
	struct list link;
	uint64_t order; /* order of arrival */
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
/* Removes the next message, interrupts first, and passes its ownership to the caller; NULL if the inbox is empty. */
struct agent_message *agent_inbox_take(struct agent_inbox *inbox);
/* As agent_inbox_take, but the oldest message of that sender. */
struct agent_message *agent_inbox_take_from(struct agent_inbox *inbox, uint64_t sender);
/* As agent_inbox_take, but the oldest message of that sender in one of the queues. */
struct agent_message *agent_inbox_take_kind(struct agent_inbox *inbox, uint64_t sender, bool is_interrupt);
/* Returns the oldest message of that sender, which stays in the inbox; borrowed. NULL if there is no such message. */
const struct agent_message *agent_inbox_find(const struct agent_inbox *inbox, uint64_t sender);
bool agent_inbox_is_empty(const struct agent_inbox *inbox);
/* True if all messages are quiet, and for an empty inbox. */
bool agent_inbox_is_quiet(const struct agent_inbox *inbox);
void agent_message_destroy(struct agent_message *message); /* NULL is fine */

#endif
