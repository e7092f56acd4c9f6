/* Applies a rollout that resume_load.h has read to the Session, and cuts histories. */
#include "engine/session/resume.h"

#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/model_provider.h"
#include "engine/session/conversation.h"
#include "engine/session/conversation_usage.h"
#include "engine/session/resume_load.h"
#include "engine/session/session.h"
#include "engine/session/environment_docs.h"
#include "engine/session/session_environment.h"
#include "engine/session/session_goal.h"
#include "engine/session/unfinished.h"
#include "remote/environment.h"
#include "rollout/rollout_reader.h"
#include "rollout/rollout_writer.h"
#include "tool/dynamic_tools.h"

static void warn_of_damage(struct session *session, const struct rollout_reader *reader)
{
	auto_buf struct buf text;
	buf_init(&text, 4 * KIB);
	if (rollout_reader_describe_damage(reader, &text))
		session_warn(session, STR(""), "%s", text.data);
	const char *torn = session->rollout ? rollout_writer_torn_path(session->rollout) : NULL;
	if (torn)
		session_warn(session, STR(""), "The last line of %s was incomplete and was moved to %s.", reader->path,
		             torn);
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

/* Another program may have let OpenAI compact the history: only the Responses API takes the result back. */
static void warn_of_compaction(struct session *session)
{
	const struct context *context = &session->conversation.context;
	bool is_there = false;
	for (size_t i = 0; i < context->items.count && !is_there; i++)
		is_there = str_has_prefix(context_item_text(context, i), "{\"type\":\"compaction\"");
	if (is_there && session->provider->wire != wire_api_responses)
		session_warn(
			session, STR(""),
			"Earlier parts of this session were compacted by its provider and are encrypted: `%s` cannot "
			"read them.",
			session->provider->id);
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
	session->conversation.usage_last = *info.last_token_usage;
	session->conversation.counted_tokens = session->conversation.usage_last.total_tokens;
	session->conversation.counted_items = session->conversation.context.items.count;
}

/* Returns the settings that the history describes, so that the next preamble contains only the differences. */
static struct settings *settings_of(struct session *session, const struct rollout_turn *turn)
{
	auto_arena struct arena arena = {0};
	struct error err;
	struct sandbox sandbox;
	struct ask_for_approval policy;
	struct mode_settings plain = {.model = turn->model.ptr ? turn->model : str_of(session->settings->model)};
	struct collaboration_mode mode = {.mode = mode_kind_default, .settings = &plain};
	struct settings_change change = {.cwd = turn->cwd, .has_reviewer = true};
	int reviewer = approvals_reviewer_user;
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
	if (turn->approvals_reviewer.ptr && enum_parse(&enum_approvals_reviewer, turn->approvals_reviewer, &reviewer))
		change.reviewer = (enum approvals_reviewer)reviewer;
	json = turn->approval_policy.ptr ? json_parse(&arena, turn->approval_policy, NULL) : NULL;
	if (json && union_decode(&union_ask_for_approval, json, &arena, &policy, NULL) == 0)
		change.approval_policy = &policy;
	if (session_environment_read(session, turn->environment, &change, &arena, &err) != 0)
		return NULL;
	struct settings *settings = settings_with(session->settings, session->env->config, &change, NULL);
	session_environment_release(&change);
	return settings;
}

static void take_history(struct session *session, struct resume_load *load)
{
	const struct rollout_reader *reader = load->reader;
	context_finish(&session->conversation.context);
	session->conversation.context = load->context;
	context_init(&load->context);
	session->conversation.compacted_items = reader->compacted_items;
	if (!session->env->unfinished || !session->env->unfinished->id.ptr) /* else they are continued */
		conversation_answer_calls(&session->conversation, &load->open_calls);
	bool is_pending = str_find(reader->turn.environment, STR("\"is_pending\"")) >= 0;
	struct settings *announced = reader->needs_context || is_pending ? NULL : settings_of(session, &reader->turn);
	session->conversation.docs_number = announced && settings_have_remote(announced) ? DOCS_RESUMED : 0;
	conversation_set_announced(&session->conversation, announced); /* the position in the history is unknown */
	settings_unref(announced);
}

/* Takes the tools of the first session_meta, which apply to the whole session. */
static void take_dynamic_tools(struct session *session, struct str described)
{
	struct error err;
	if (described.ptr)
		session->dynamic_tools = dynamic_tools_read(described, &err);
}

static void warn_of_tools(struct session *session, const struct rollout_reader *reader)
{
	if (reader->meta.dynamic_tools.ptr && !session->dynamic_tools)
		session_warn(
			session, STR(""),
			"The tools that this session's client provided cannot be read from %s and are not available.",
			reader->path);
}

struct resume_load *session_resume_plan(const struct session_env *env, struct str path)
{
	struct resume_load *load = resume_load_create(path);
	load->opens = !env->ephemeral;
	load->shows_events = env->is_interactive && !env->reads_record;
	load->fsync = env->config->fsync;
	return load;
}

int session_resume(struct session *session, struct error *err)
{
	struct resume_load *load = session->resumed;
	struct rollout_reader *reader = load->reader;
	if (load->err.code) {
		if (err)
			*err = load->err;
		return -(int)load->err.code;
	}
	session->rollout = steal(load->rollout);
	memcpy(session->id, reader->meta.thread_id.ptr, UUID_TEXT_SIZE - 1);
	take_history(session, load);
	take_usage(session, reader);
	session_goal_restore(session, reader->goal);
	take_dynamic_tools(session, reader->meta.dynamic_tools);
	return 0;
}

struct str session_resume_messages(const struct session *session)
{
	const struct resume_load *load = session->resumed;
	return load && load->shows_events && !load->events.over ? buf_str(&load->events) : STR_NONE;
}

int session_reread(struct session *session, struct error *err)
{
	if (session_flush_rollout(session, err) != 0)
		return -(int)err->code;
	struct resume_load *load = resume_load_create(str_of(rollout_writer_path(session->rollout)));
	resume_load_run(load);
	int status = -(int)load->err.code;
	if (status == 0)
		take_history(session, load);
	else
		*err = load->err;
	resume_load_destroy(load);
	return status;
}

void session_resume_warn(struct session *session)
{
	if (!session->resumed)
		return;
	warn_of_damage(session, session->resumed->reader);
	warn_of_tools(session, session->resumed->reader);
	warn_of_model(session, session->resumed->reader);
	warn_of_compaction(session);
	resume_load_destroy(session->resumed);
	session->resumed = NULL;
}

/* ---- a part of the history ---- */

/* Records {"type":"thread_rolled_back","num_turns":n}: a resume drops that many user turns. */
void session_record_rewind(struct session *session, size_t user_turns)
{
	auto_buf struct buf payload;
	buf_init(&payload, 1 * KIB);
	struct json_writer w = json_writer(&payload);
	jw_object(&w);
	jw_member_cstr(&w, "type", "thread_rolled_back");
	jw_member_i64(&w, "num_turns", (int64_t)user_turns);
	jw_object_end(&w);
	session_record(session, LINE_event_msg, buf_str(&payload));
}

/* Whole turns are recorded as a rollback, which other programs understand; if the cut is elsewhere, the whole
 * history is recorded. */
void session_rewind(struct session *session, const struct context_mark *mark)
{
	size_t dropped = session->conversation.context.user_turns - mark->user_turns;
	bool is_whole = mark->ends_task && !session->has_new_history;
	if (mark->item_count < session->conversation.announced_at) {
		settings_unref(session->conversation.announced);
		session->conversation.announced = NULL;
	}
	context_rewind(&session->conversation.context, mark);
	if (is_whole)
		session_record_rewind(session, dropped);
	else
		conversation_record_history(&session->conversation, STR(""));
	session->has_new_history |= !is_whole;
	conversation_close_calls(&session->conversation);
	conversation_limit_usage(&session->conversation);
}

void session_go_elsewhere(struct session *session, struct str response_id)
{
	settings_unref(session->conversation.announced);
	session->conversation.announced = NULL;
	session->conversation.context.user_turns = 0;
	context_truncate(&session->conversation.context, 0);
	context_mark_response(&session->conversation.context, response_id);
	conversation_record_history(&session->conversation, STR(""));
	conversation_limit_usage(&session->conversation);
	session->has_new_history = true;
}
