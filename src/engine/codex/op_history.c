/* Handles Ops on stored data: the user's prompts of all sessions, the name and path of this session, and rollback.
 * Each acts and answers at once; the files are small and local. */
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "config/config.h"
#include "engine/codex/op_priv.h"
#include "engine/session/resume.h"
#include "engine/session/session.h"
#include "engine/session/session_code.h"
#include "engine/session/conversation_usage.h"
#include "rollout/prompt_history.h"
#include "rollout/rollout_item.h"
#include "rollout/rollout_name.h"
#include "rollout/rollout_writer.h"

void on_op_add_to_history(struct codex *codex, const struct submission *submission)
{
	const struct config *config = codex->env.config;
	const struct prompt_entry entry = {
		.session_id = str_of(codex->session->id),
		.ts = clock_unix_ms() / 1000,
		.text = submission->op.add_to_history->text,
	};
	struct error err;
	if (config->history.persistence == history_persistence_none)
		return;
	if (prompt_history_append(config_home(config), &entry, config->history.max_bytes, &err) != 0)
		session_warn(codex->session, submission->id, "This prompt is not in the history: %s.", err.text);
}

void on_op_get_history_entry_request(struct codex *codex, const struct submission *submission)
{
	const struct op_get_history_entry_request *op = submission->op.get_history_entry_request;
	auto_arena struct arena arena = {0};
	struct prompt_entry found;
	struct history_entry entry;
	struct ev_history_entry_response event = {.offset = op->offset, .log_id = op->log_id};
	if (prompt_history_find(config_home(codex->env.config), op->log_id, op->offset, &arena, &found)) {
		entry = (struct history_entry){found.session_id, found.ts, found.text};
		event.entry = &entry;
	}
	session_emit(codex->session, submission->id, EV_get_history_entry_response, &event);
}

void on_op_get_path(struct codex *codex, const struct submission *submission)
{
	struct session *session = codex->session;
	if (!session->rollout) {
		op_refuse_request(codex, submission, "This session is not recorded, so it has no path.");
		return;
	}
	struct ev_conversation_path event = {str_of(session->id), str_of(rollout_writer_path(session->rollout))};
	session_emit(session, submission->id, EV_conversation_path, &event);
}

/* A no-op: no version of the protocol has an event that answers it. */
void on_op_list_models(struct codex *codex, const struct submission *submission)
{
	(void)codex, (void)submission;
}

void on_op_set_thread_name(struct codex *codex, const struct submission *submission)
{
	struct session *session = codex->session;
	struct str name = str_trim(submission->op.set_thread_name->name);
	struct error err;
	if (!name.len) {
		op_refuse_request(codex, submission, "Thread name cannot be empty.");
		return;
	}
	if (!session->rollout) {
		op_refuse_request(codex, submission, "This session is not recorded, so it cannot have a name.");
		return;
	}
	if (rollout_name_set(config_home(codex->env.config), str_of(session->id), name, &err) != 0) {
		op_refuse(codex, submission, "\"other\"", err.text);
		return;
	}
	struct ev_thread_name_updated event = {str_of(session->id), name};
	session_emit(session, submission->id, EV_thread_name_updated, &event);
}

static bool is_user_message(const struct context *context, size_t index)
{
	auto_arena struct arena arena = {0};
	return rollout_item_is_user_message(json_parse(&arena, context_item_text(context, index), NULL));
}

/* Returns the position of the `turns`-th user message from the end, or of the first one if there are fewer. */
static struct context_mark find_turn(const struct context *context, int64_t turns)
{
	struct context_mark mark = {.item_count = context->items.count, .user_turns = context->user_turns};
	for (size_t i = context->items.count; i > 0 && turns > 0; i--) {
		if (!is_user_message(context, i - 1))
			continue;
		mark.item_count = i - 1;
		mark.user_turns -= mark.user_turns > 0;
		turns--;
	}
	return mark;
}

/* Rolls back. Items that a compaction has replaced are only in the rollout. */
static void roll_back(struct session *session, int64_t turns)
{
	struct context_mark mark = find_turn(&session->conversation.context, turns);
	struct error err;
	bool is_undone = mark.item_count < session->conversation.compacted_items && session->rollout;
	context_rewind(&session->conversation.context, &mark);
	session_forget_scripts(session);
	session_record_rewind(session, (size_t)turns);
	if (is_undone && session_reread(session, &err) != 0)
		session_warn(session, STR(""), "The history before the last compaction could not be read: %s",
		             err.text);
}

void on_op_thread_rollback(struct codex *codex, const struct submission *submission)
{
	static const char failed[] = "\"thread_rollback_failed\"";
	struct session *session = codex->session;
	int64_t turns = submission->op.thread_rollback->num_turns;
	if (turns < 1) {
		op_refuse(codex, submission, failed, "num_turns must be at least 1.");
		return;
	}
	if (session->task) {
		op_refuse(codex, submission, failed, "A task is running: interrupt it first, or wait for it.");
		return;
	}
	roll_back(session, turns);
	conversation_estimate_usage(&session->conversation, submission->id, session->settings);
	struct ev_thread_rolled_back event = {turns};
	session_emit(session, submission->id, EV_thread_rolled_back, &event);
}
