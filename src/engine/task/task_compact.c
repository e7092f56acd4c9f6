/* A Task that is nothing but a compaction: the user asked for it (Op compact). It takes no input; what ends it
 * early leaves the history as it was. */
#include "engine/task/compact.h"
#include "engine/session/session.h"
#include "engine/task/task.h"

static const struct task_kind kind = {
	.size = sizeof(struct task),
	.on_compacted = task_complete,
};

void task_start_compact(const struct task_owner *owner, struct str id)
{
	struct session *session = owner->session;
	struct task *task = task_create(&kind, owner, id);
	if (session->conversation.context.items.count) {
		compact_start(task);
		return;
	}
	session_warn(session, id, "There is nothing to summarise yet.");
	task_complete(task);
}
