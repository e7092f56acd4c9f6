/* The Session is data: Ops change it, the Task uses it, the rollout records it. The rollout has two readers: a later
 * resume, which needs the items and the settings, and other programs, which need the events. */
#define LOG_MODULE "session"
#include "engine/session/session.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "rollout/rollout_journal.h"
#include "rollout/rollout_writer.h"
#include "tool/tool.h"

/* ---- the rollout ---- */

/* A large line is written at once: its batch would only cost memory. After an error it stays pending, and the flush
 * before the next events reports the error. */
static void flush_large(struct session *session, size_t pending_before)
{
	if (rollout_writer_pending_bytes(session->rollout) > pending_before + LIMIT_ROLLOUT_KEEP)
		best_effort(session_flush_rollout(session, NULL));
}

/* While the disk is full, pending lines would grow without limit, so those that do not fit are lost. The user was
 * warned when the disk became full (engine/codex/queues.c). */
void session_record(struct session *session, enum rollout_line_type type, struct str payload)
{
	struct error err;
	if (!session->rollout)
		return;
	size_t before = rollout_writer_pending_bytes(session->rollout);
	if (rollout_writer_append(session->rollout, type, payload, &err) != 0) {
		log_debug("not recorded: %s", err.text);
		if (payload.len > LIMIT_ROLLOUT_LINE - KIB)
			session_warn_line(session, type);
	}
	flush_large(session, before);
}

void session_warn_line(struct session *session, enum rollout_line_type type)
{
	session_warn(session, STR(""),
	             "A line `%s` of this session's file would be longer than %d MiB and was not written: a resume "
	             "does not know what it says.",
	             rollout_line_name(type), LIMIT_ROLLOUT_LINE / MIB);
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

/* ---- events ---- */

void session_push(struct session *session, struct str sub_id, enum event_tag tag, const void *body)
{
	session->env->ops->push(session->env->self, sub_id, tag, body);
}

void session_emit(struct session *session, struct str sub_id, enum event_tag tag, const void *body)
{
	session_push(session, sub_id, tag, body);
	session_record_event(session, sub_id, tag, body);
}

/* item_started and item_completed have the same fields */
_Static_assert(sizeof(struct ev_item_started) == sizeof(struct ev_item_completed), "one body serves both events");

void session_emit_item(struct session *session, struct str turn_id, enum event_tag tag, struct turn_item *item)
{
	struct ev_item_completed event = {.thread_id = str_of(session->id), .turn_id = turn_id, .item = item};
	session_emit(session, turn_id, tag, &event);
}

void session_warn(struct session *session, struct str sub_id, const char *format, ...)
{
	auto_buf struct buf text;
	va_list args;
	buf_init(&text, LIMIT_WARNING);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	struct ev_warning event = {.message = text.over ? STR("A warning was too long to be shown.") : buf_str(&text)};
	session_emit(session, sub_id, EV_warning, &event);
}

/* ---- state ---- */

/* The journal marks the item as declined when the event that ends it is recorded. */
static void record_decision(struct session *session, const struct tool_call *call,
                            const struct review_decision *decision)
{
	if (session->journal && (decision->tag == review_decision_denied || decision->tag == review_decision_abort))
		rollout_journal_decline(session->journal, call->call_id);
}

bool session_answer(struct session *session, enum pending_kind kind, struct str id, const void *answer)
{
	const struct tool_call *call = pending_find(&session->pending, kind, id);
	if (!call || loop_deferred_is_waiting(&session->interrupt)) /* the answer to another request was "abort" */
		return false;
	if (kind == PENDING_approval)
		record_decision(session, call, answer);
	return pending_answer(&session->pending, kind, id, answer);
}

int session_change_settings(struct session *session, const struct settings_change *change, struct error *err)
{
	struct settings *settings = settings_with(session->settings, session->env->config, change, err);
	if (!settings)
		return -(int)err->code;
	settings_unref(session->settings);
	session->settings = settings;
	return 0;
}
