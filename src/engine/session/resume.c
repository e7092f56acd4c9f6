/* The writer opens first and so holds the lock: nobody can add a line between our reading and our going
 * on. The reader's items go into the history as they stand. */
#include "engine/session/resume.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/agents.h"
#include "engine/codex/codex_priv.h"
#include "engine/session/session.h"
#include "engine/session/session_record.h"
#include "rollout/rollout_reader.h"
#include "rollout/rollout_writer.h"
#include "tool/dynamic_tools.h"

/* A damaged file is worth a word, and what was put aside can be looked at. */
static void warn_of_damage(struct session *session, const struct rollout_reader *reader)
{
	auto_buf struct buf text;
	buf_init(&text, 4 * KIB);
	if (rollout_reader_describe_damage(reader, &text))
		session_warn(session, STR(""), "%s", text.data);
	const char *torn = session->rollout ? rollout_writer_torn_path(session->rollout) : NULL;
	if (torn)
		session_warn(session, STR(""), "The last line of %s was cut off; what was left of it is in %s.",
		             reader->path, torn);
}

static void warn_of_model(struct session *session, const struct rollout_reader *reader)
{
	struct str was = reader->turn.model;
	const char *is = session->settings->model;
	if (was.ptr && !str_is(was, is))
		session_warn(session, STR(""),
		             "This session was recorded with model `%.*s` but is resuming with `%s`. Consider "
		             "switching back to `%.*s` as it "
		             "may affect Codex performance.",
		             STR_ARG(was), is, STR_ARG(was));
}

static void take_usage(struct session *session, const struct rollout_reader *reader)
{
	auto_arena struct arena arena = {0};
	struct token_usage_info info = {0};
	if (!reader->token_info.ptr)
		return;
	const struct json *json = json_parse(&arena, reader->token_info, NULL);
	if (!json || record_decode(&record_token_usage_info, json, &arena, &info, NULL) != 0)
		return;
	session->has_usage = true;
	session->usage_total = *info.total_token_usage;
	session->usage_last = *info.last_token_usage;
	session->counted_tokens = session->usage_last.total_tokens;
	session->counted_items = session->context.items.count;
}

/* The settings the model was last told about, so that only what differs is said again. */
static struct settings *settings_of(struct session *session, const struct rollout_turn *turn)
{
	auto_arena struct arena arena = {0};
	struct sandbox sandbox;
	struct ask_for_approval policy;
	struct mode_settings plain = {.model = turn->model.ptr ? turn->model : str_of(session->settings->model)};
	struct collaboration_mode mode = {.mode = mode_kind_default, .settings = &plain};
	struct settings_change change = {.cwd = turn->cwd};
	const struct json *json = turn->sandbox_policy.ptr ? json_parse(&arena, turn->sandbox_policy, NULL) : NULL;
	if (json && union_decode(&union_sandbox, json, &arena, &sandbox, NULL) == 0)
		change.sandbox = &sandbox;
	json = turn->collaboration_mode.ptr ? json_parse(&arena, turn->collaboration_mode, NULL) : NULL;
	if (json && record_decode(&record_collaboration_mode, json, &arena, &mode, NULL) != 0)
		mode = (struct collaboration_mode){.mode = mode_kind_default, .settings = &plain};
	change.mode = &mode;
	int personality;
	change.has_personality =
		turn->personality.ptr && enum_parse(&enum_personality, turn->personality, &personality);
	if (change.has_personality)
		change.personality = (enum personality)personality;
	json = turn->approval_policy.ptr ? json_parse(&arena, turn->approval_policy, NULL) : NULL;
	if (json && union_decode(&union_ask_for_approval, json, &arena, &policy, NULL) == 0)
		change.approval_policy = &policy;
	return settings_with(session->settings, session->codex->config, &change, NULL);
}

static void take_history(struct session *session, const struct rollout_reader *reader)
{
	struct context *context = &session->context;
	size_t mark = 0;
	for (size_t i = 0; i <= reader->history.count; i++) {
		for (; mark < reader->marks.count && reader->marks.items[mark].item_count == i; mark++) {
			context->user_turns = reader->marks.items[mark].user_turns;
			context_mark_response(context, reader->marks.items[mark].response_id);
			if (reader->marks.items[mark].ends_task)
				context_mark_task_end(context);
		}
		if (i < reader->history.count)
			context_append(context, reader->history.items[i]);
	}
	context->user_turns = reader->user_turns;
	session->compacted_items = reader->compacted_items;
	session_close_calls(session);
	settings_unref(session->told);
	session->told = NULL;
	if (!reader->needs_context)
		session->told = settings_of(session, &reader->turn);
	session->told_at = session->context.items.count; /* where in it is not known */
}

/* What a session began with holds for as long as it goes on (session_meta.dynamic_tools). */
static void take_dynamic_tools(struct session *session, struct str described)
{
	struct error err;
	if (described.ptr)
		session->dynamic_tools = dynamic_tools_read(described, &err);
}

static void warn_of_tools(struct session *session, const struct rollout_reader *reader)
{
	if (reader->meta.dynamic_tools.ptr && !session->dynamic_tools)
		session_warn(session, STR(""),
		             "The tools that this session's client provided cannot be read from %s: the model has none "
		             "of them.",
		             reader->path);
}

int session_resume(struct session *session, struct str path_text, struct error *err)
{
	auto_free char *path = str_dup(path_text);
	if (!session->codex->ephemeral)
		session->rollout = rollout_writer_open(path, session->codex->config->fsync, err);
	if (!session->rollout && !session->codex->ephemeral)
		return -(int)err->code;
	enum rollout_wants wants = session->codex->is_interactive ? ROLLOUT_ALL : ROLLOUT_HISTORY;
	const char *file = session->rollout ? rollout_writer_path(session->rollout) : path;
	struct rollout_reader *reader = rollout_reader_create_for(file, wants, err);
	if (!reader)
		return error_wrap(err, "cannot resume"); /* the path is in it already */
	if (reader->meta.thread_id.len != UUID_TEXT_SIZE - 1) {
		rollout_reader_destroy(reader);
		return error_set(err, ERR_invalid, "failed to parse thread ID from rollout file %s", path);
	}
	memcpy(session->id, reader->meta.thread_id.ptr, UUID_TEXT_SIZE - 1);
	take_history(session, reader);
	take_usage(session, reader);
	agents_restore(session, reader);
	take_dynamic_tools(session, reader->meta.dynamic_tools);
	session->resumed = reader;
	return 0;
}

struct str session_resume_messages(const struct session *session, struct buf *out)
{
	if (!session->resumed || !session->codex->is_interactive)
		return STR_NONE;
	struct json_writer w = json_writer(out);
	rollout_reader_write_events(session->resumed, &w);
	rollout_reader_forget(session->resumed); /* the file's bytes need not be there while these are sent */
	return out->over ? STR_NONE : buf_str(out);
}

int session_reread(struct session *session, struct error *err)
{
	if (session_flush_rollout(session, err) != 0)
		return -(int)err->code;
	const char *path = rollout_writer_path(session->rollout);
	struct rollout_reader *reader = rollout_reader_create_for(path, ROLLOUT_HISTORY, err);
	if (!reader)
		return -(int)err->code;
	context_finish(&session->context);
	take_history(session, reader);
	rollout_reader_destroy(reader);
	return 0;
}

void session_resume_tell(struct session *session)
{
	if (!session->resumed)
		return;
	warn_of_damage(session, session->resumed);
	warn_of_tools(session, session->resumed);
	warn_of_model(session, session->resumed);
	rollout_reader_destroy(session->resumed);
	session->resumed = NULL;
}
