/* Items that a front end adds to the history, its view of the model's input, and its requests for the goal. */
#include "engine/codex/codex.h"

#include "base/error.h"
#include "base/limits.h"
#include "config/config.h"
#include "engine/codex/codex_data.h"
#include "engine/codex/codex_session.h"
#include "engine/history/history_item.h"
#include "engine/session/conversation.h"
#include "engine/session/environment_docs.h"
#include "engine/session/preamble.h"
#include "engine/session/session.h"
#include "engine/session/session_goal.h"

static int keep_items(struct session *session, const struct str *items, size_t count, struct error *err)
{
	size_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += items[i].len + 1;
	if (sum > session->unheard.max - session->unheard.len)
		return error_set(err, ERR_limit, "these items and those pending for the next turn exceed %d MB",
		                 LIMIT_USER_ITEM / MIB);
	for (size_t i = 0; i < count; i++) {
		buf_append_str(&session->unheard, items[i]);
		buf_append_char(&session->unheard, '\n');
	}
	return 0;
}

/* Adds items. None must come between a call of the model and its output, so a running task adds them where it can. */
int codex_add_items(struct codex *codex, const struct str *items, size_t count, struct error *err)
{
	struct session *session = codex->session;
	codex->ops->carry_out(codex);
	if (session->task || environment_docs_are_pending(session))
		return keep_items(session, items, count, err);
	preamble_update(&session->conversation, session->settings);
	for (size_t i = 0; i < count; i++)
		conversation_add(&session->conversation, items[i]);
	rollout_stall_pass(&codex->stall, session);
	return 0;
}

size_t codex_remote_instructions(const struct codex *codex, size_t place, const struct str **ret)
{
	return environment_docs_paths(codex->session, place, ret);
}

void codex_preview_input(struct codex *codex, const struct user_input *items, size_t count, struct buf *out)
{
	struct conversation *conversation = &codex->session->conversation;
	auto_buf struct buf item;
	buf_init(&item, LIMIT_USER_ITEM);
	preamble_update(conversation, codex->session->settings);
	user_message_write(&item, codex->session->settings->cwd, items, count);
	if (count)
		conversation_add(conversation, buf_str(&item));
	buf_append_char(out, '[');
	for (size_t i = 0; i < conversation->context.items.count; i++) {
		buf_append_c(out, i ? "," : "");
		buf_append_str(out, context_item_text(&conversation->context, i));
	}
	buf_append_char(out, ']');
}

/* ---- the goal ---- */

bool codex_goal(const struct codex *codex, struct thread_goal *ret)
{
	return codex->session && session_goal_view(codex->session, ret);
}

int codex_change_goal(struct codex *codex, const struct goal_change *change, struct error *err)
{
	if (!codex->env.config->features.goals)
		return error_set(err, ERR_unsupported, "goals are off: set features.goals = true");
	if (session_goal_change(codex->session, change, true, err) != 0)
		return -(int)err->code;
	codex->has_succeeded = true;
	if (!codex->session->task)
		codex_continue_goal(codex);
	return 0;
}

bool codex_clear_goal(struct codex *codex)
{
	return codex->session && session_goal_clear(codex->session);
}
