/* rollout_collab_item.h — what a model did with subagents, as an item of an item_completed line (0.169's TurnItem).
 * Private to rollout/.
 *
 * Owns: nothing. Any thread. Source: subagents 8.2. */
#ifndef ROLLOUT_ROLLOUT_COLLAB_ITEM_H
#define ROLLOUT_ROLLOUT_COLLAB_ITEM_H

#include <stdbool.h>

#include "base/json.h"
#include "protocol/record/types.h"

struct event_msg;

/* A collab_* event, whichever tool it is about; borrows from the event. */
struct rollout_collab_item {
	struct str id;
	const char *tool; /* as the file names it */
	struct str sender_id;
	struct str prompt, model; /* absent: the tool has none */
	bool has_effort;
	enum reasoning_effort effort;
	const struct str *receivers;
	const struct agent_status *statuses; /* of each receiver; NULL: the call has only begun */
	size_t count;
	bool has_ended;
};

/* False: the event is another one. */
bool rollout_collab_item_read(const struct event_msg *event, struct rollout_collab_item *ret);
/* One JSON object; a call that has not ended is written as interrupted. Long last words are cut in the middle. */
void rollout_collab_item_write(const struct rollout_collab_item *item, struct json_writer *w);

#endif
