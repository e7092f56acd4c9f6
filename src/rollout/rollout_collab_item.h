/* rollout_collab_item.h — calls of subagent tools as items of item_completed lines (TurnItem of codex 0.169). Private
 * to rollout/.
 *
 * Owns: nothing. Any thread. */
#ifndef ROLLOUT_ROLLOUT_COLLAB_ITEM_H
#define ROLLOUT_ROLLOUT_COLLAB_ITEM_H

#include <stdbool.h>

#include "base/json.h"
#include "protocol/record/types.h"

struct event_msg;

/* A collab_* event of any tool; borrows from the event. */
struct rollout_collab_item {
	struct str id;
	const char *tool; /* the tool's name in the file */
	struct str sender_id;
	struct str prompt, model; /* STR_NONE if the tool has none */
	bool has_effort;
	enum reasoning_effort effort;
	const struct str *receivers;
	const struct agent_status *statuses; /* one for each receiver; NULL: the call has not ended */
	size_t count;
	/* The nicknames are in one of these: of the only receiver; of each, at the begin of a wait; and at its end. */
	struct str nickname;
	const struct collab_agent_ref *agents;
	size_t agent_count;
	const struct collab_agent_status_entry *entries;
	size_t entry_count;
	bool has_ended;
};

/* Reads an event; false if it is not a collab_* event. */
bool rollout_collab_item_read(const struct event_msg *event, struct rollout_collab_item *ret);
/* Writes one JSON object; a call that has not ended is written as interrupted. Long final messages are cut in the
 * middle. */
void rollout_collab_item_write(const struct rollout_collab_item *item, struct json_writer *w);

#endif
