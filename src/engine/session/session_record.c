/* The rollout is written for two readers: a later resume, which needs history items and settings, and
 * the user's other tools, which need the few events that tell the story (core 10). */
#define LOG_MODULE "session"
#include "engine/session/session_record.h"

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "config/config.h"
#include "engine/session/conversation.h"
#include "engine/session/session.h"
#include "rollout/rollout_journal.h"
#include "rollout/rollout_line.h"
#include "rollout/rollout_writer.h"

/* A large line goes to the disk at once: waiting for the rest of its batch would only cost memory. What
 * fails here stays pending, and the flush before the next events tells of it. */
static void flush_large(struct session *session, size_t pending_before)
{
	if (rollout_writer_pending_bytes(session->rollout) > pending_before + LIMIT_ROLLOUT_KEEP)
		session_flush_rollout(session, NULL);
}

/* A line is written whole or not at all. */
static void warn_of_length(struct session *session, enum rollout_line_type type)
{
	session_warn(session, STR(""),
	             "A line `%s` of this session's file would be longer than %d MiB and was not written: a resume "
	             "does not know what it says.",
	             rollout_line_name(type), LIMIT_ROLLOUT_LINE / MIB);
}

/* A batch that is full because the disk is would otherwise grow without end: what does not fit is
 * lost to the file, and the user was warned when the disk filled up (rollout_stall.c). */
static void append(struct session *session, enum rollout_line_type type, struct str payload)
{
	struct error err;
	if (!session->rollout)
		return;
	size_t before = rollout_writer_pending_bytes(session->rollout);
	if (rollout_writer_append(session->rollout, type, payload, &err) != 0) {
		log_debug("not recorded: %s", err.text);
		if (payload.len > LIMIT_ROLLOUT_LINE - KIB)
			warn_of_length(session, type);
	}
	flush_large(session, before);
}

/* The rollout records the user's conversation alone. */
static bool is_recorded(const struct conversation *conversation)
{
	return conversation->session->rollout && !conversation->voice;
}

static void record(struct conversation *conversation, enum rollout_line_type type, struct str payload)
{
	if (is_recorded(conversation))
		append(conversation->session, type, payload);
}

static void record_buf(struct conversation *conversation, enum rollout_line_type type, const struct buf *payload)
{
	if (payload->over)
		warn_of_length(conversation->session, type);
	else
		record(conversation, type, buf_str(payload));
}

void conversation_add(struct conversation *conversation, struct str item)
{
	context_append(&conversation->context, item);
	record(conversation, LINE_response_item, item);
}

void conversation_add_secret(struct conversation *conversation, struct str item, struct str recorded)
{
	context_append_secret(&conversation->context, item, recorded);
	record(conversation, LINE_response_item, recorded);
}

void conversation_add_buf(struct conversation *conversation, struct buf *item)
{
	context_take(&conversation->context, item);
	record(conversation, LINE_response_item,
	       context_item_text(&conversation->context, conversation->context.items.count - 1));
}

void conversation_record_all(struct conversation *conversation)
{
	for (size_t i = 0; i < conversation->context.items.count; i++)
		record(conversation, LINE_response_item, context_item_recorded(&conversation->context, i));
	session_flush_rollout(conversation->session, NULL);
}

void session_record_event(struct session *session, struct str turn_id, enum event_tag tag, const void *body)
{
	struct error err;
	struct event_msg event = {.tag = tag, .body = (void *)(uintptr_t)body};
	if (!session->rollout)
		return;
	if (!session->journal)
		session->journal = rollout_journal_create(session->rollout, str_of(session->id));
	size_t before = rollout_writer_pending_bytes(session->rollout);
	if (rollout_journal_event(session->journal, turn_id, &event, &err) != 0)
		log_debug("not recorded: %s", err.text);
	flush_large(session, before);
}

void session_record_decline(struct session *session, struct str call_id)
{
	if (session->journal)
		rollout_journal_decline(session->journal, call_id);
}

/* Left out where there is nothing to say: no mode is the default one. */
static struct str write_mode(const struct settings *settings, struct buf *out)
{
	if (settings->mode == mode_kind_default && !settings->mode_instructions)
		return STR_NONE;
	struct mode_settings inner = {
		.model = str_of(settings->model),
		.has_reasoning_effort = settings->effort != reasoning_effort_unset,
		.reasoning_effort = settings->effort,
		.developer_instructions = str_of(settings->mode_instructions),
	};
	struct collaboration_mode mode = {settings->mode, &inner};
	struct json_writer w = json_writer(out);
	record_encode(&record_collaboration_mode, &mode, &w);
	return buf_str(out);
}

void conversation_record_settings(struct conversation *conversation, struct str turn_id,
                                  const struct settings *settings)
{
	if (!is_recorded(conversation))
		return;
	auto_buf struct buf payload, sandbox, policy, mode;
	buf_init(&payload, LIMIT_ROLLOUT_LINE);
	buf_init(&sandbox, 1 * MIB);
	buf_init(&policy, LIMIT_LINE);
	buf_init(&mode, LIMIT_ROLLOUT_LINE);
	struct json_writer w = json_writer(&sandbox);
	union_encode(&union_sandbox, settings->sandbox, &w);
	w = json_writer(&policy);
	union_encode(&union_ask_for_approval, settings->approval_policy, &w);
	struct rollout_turn turn = {
		.turn_id = conversation->session->journal
	                           ? rollout_journal_turn_id(conversation->session->journal, turn_id)
	                           : turn_id,
		.cwd = str_of(settings->cwd),
		.model = str_of(settings->model),
		.approval_policy = buf_str(&policy),
		.sandbox_policy = buf_str(&sandbox),
		.summary = str_of(enum_wire(&enum_reasoning_summary, (int)settings->summary)),
	};
	if (settings->effort != reasoning_effort_unset)
		turn.effort = str_of(enum_wire(&enum_reasoning_effort, (int)settings->effort));
	if (settings->info.has_personality)
		turn.personality = str_of(enum_wire(&enum_personality, (int)settings->personality));
	turn.collaboration_mode = write_mode(settings, &mode);
	w = json_writer(&payload);
	rollout_turn_encode(&turn, &w);
	record_buf(conversation, LINE_turn_context, &payload);
}

int session_flush_rollout(struct session *session, struct error *err)
{
	return session->rollout ? rollout_writer_flush(session->rollout, err) : 0;
}

static void on_synced(const struct error *err, void *self)
{
	(void)self;
	if (err)
		log_debug("rollout not synced: %s", err->text);
}

void session_sync_rollout(struct session *session)
{
	if (session->rollout && session_flush_rollout(session, NULL) == 0)
		rollout_writer_sync(session->rollout, session->env->loop, on_synced, NULL);
}

/* {"type":"thread_rolled_back","num_turns":n}: how many user turns a resume drops (core 10). */
void session_record_rewind(struct session *session, size_t user_turns)
{
	auto_buf struct buf payload;
	buf_init(&payload, 1 * KIB);
	struct json_writer w = json_writer(&payload);
	jw_object(&w);
	jw_member_cstr(&w, "type", "thread_rolled_back");
	jw_member_i64(&w, "num_turns", (int64_t)user_turns);
	jw_object_end(&w);
	append(session, LINE_event_msg, buf_str(&payload));
}

/* {"message":"…","replacement_history":[…]}: a resume starts from here, and needs no model for it. */
void conversation_record_history(struct conversation *conversation, struct str summary)
{
	if (!is_recorded(conversation))
		return;
	auto_buf struct buf payload;
	buf_init(&payload, LIMIT_ROLLOUT_LINE);
	buf_append_c(&payload, "{\"message\":");
	json_quote(&payload, summary);
	buf_append_c(&payload, ",\"replacement_history\":[");
	for (size_t i = 0; i < conversation->context.items.count; i++) {
		if (i)
			buf_append_char(&payload, ',');
		buf_append_str(&payload, context_item_recorded(&conversation->context, i));
	}
	buf_append_c(&payload, "]}");
	record_buf(conversation, LINE_compacted, &payload);
}
