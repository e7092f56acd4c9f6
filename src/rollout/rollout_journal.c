/* The event that ends an item lacks some data of its line: the start time, whether the user denied the call, the
 * text of an interrupted message. The journal keeps these for open items, which are few. */
#include "rollout/rollout_journal.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "protocol/message/review_text.h"
#include "protocol/record/types.h"
#include "rollout/rollout_collab_item.h"
#include "rollout/rollout_event.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_open.h"
#include "rollout/rollout_tool_item.h"
#include "rollout/rollout_writer.h"

struct rollout_journal {
	struct rollout_writer *writer;
	char *thread_id;
	struct open_items open;
	char *wire_turn;           /* the turn's id on the wire */
	char turn[UUID_TEXT_SIZE]; /* its id in the file, if it differs; else "" */
	int64_t started_at_ms;
	struct buf error; /* the error of the turn as JSON; empty: no error */
};

struct rollout_journal *rollout_journal_create(struct rollout_writer *writer, struct str thread_id)
{
	struct rollout_journal *journal = xnew(struct rollout_journal);
	*journal = (struct rollout_journal){.writer = writer, .thread_id = str_dup(thread_id)};
	open_items_init(&journal->open);
	buf_init(&journal->error, LIMIT_PROMPT);
	return journal;
}

void rollout_journal_destroy(struct rollout_journal *journal)
{
	if (!journal)
		return;
	open_items_finish(&journal->open);
	buf_finish(&journal->error);
	free(journal->wire_turn);
	free(journal->thread_id);
	free(journal);
}

struct str rollout_journal_turn_id(const struct rollout_journal *journal, struct str turn_id)
{
	bool is_renamed = journal->turn[0] && journal->wire_turn && str_is(turn_id, journal->wire_turn);
	return is_renamed ? str_of(journal->turn) : turn_id;
}

/* ---- open items ---- */

static struct open_item *item_find(const struct rollout_journal *journal, struct str id)
{
	return open_items_find(&journal->open, id);
}

static struct open_item *item_begin(struct rollout_journal *journal, struct str turn_id, struct str id)
{
	if (!rollout_writer_is_paginated(journal->writer))
		return NULL;
	return open_items_add(&journal->open, id, rollout_journal_turn_id(journal, turn_id));
}

void rollout_journal_decide(struct rollout_journal *journal, struct str call_id, bool is_declined)
{
	struct open_item *item = item_find(journal, call_id);
	if (item && is_declined)
		item->is_declined = true;
	else if (item && item->is_asked)
		open_items_remove(&journal->open, item); /* the command's begin starts another item */
}

/* ---- lines ---- */

/* Writes the members before the item. item may be NULL: no start was recorded. */
static struct json_writer line_begin(struct rollout_journal *journal, struct str turn_id, const struct open_item *item)
{
	int64_t began_ms = item ? item->started_at_ms : 0, now_ms = clock_unix_ms();
	struct json_writer w = rollout_writer_begin(journal->writer, LINE_event_msg);
	jw_object(&w);
	jw_member_cstr(&w, "type", "item_completed");
	jw_member_cstr(&w, "thread_id", journal->thread_id);
	jw_member_str(&w, "turn_id", item ? str_of(item->turn_id) : rollout_journal_turn_id(journal, turn_id));
	jw_member_i64(&w, "started_at_ms", item ? began_ms : now_ms);
	jw_member_i64(&w, "completed_at_ms", began_ms > now_ms && began_ms - now_ms <= ORDER_MS ? began_ms : now_ms);
	jw_key(&w, "item");
	return w;
}

/* Ends the line and the item, which may be NULL. */
static int line_end(struct rollout_journal *journal, struct json_writer *w, struct open_item *item, struct error *err)
{
	jw_object_end(w);
	int status = rollout_writer_end(journal->writer, err);
	open_items_remove(&journal->open, item);
	return status;
}

/* ---- messages, reasoning, plans ---- */

static const struct str *id_of(const struct turn_item *item)
{
	const struct record *record = union_find_tag(&union_turn_item, (int)item->tag)->body;
	const struct field *field = record_find_field(record, "id");
	return (const struct str *)(const void *)((const char *)item->body + field->offset);
}

static int on_item_started(struct rollout_journal *journal, const struct ev_item_started *event)
{
	struct open_item *item = item_begin(journal, event->turn_id, *id_of(event->item));
	if (!item)
		return 0;
	struct json_writer w = json_writer(&item->item);
	item->is_message = event->item->tag == turn_item_agent_message;
	if (!item->is_message)
		union_encode(&union_turn_item, event->item, &w);
	return 0;
}

static int on_delta(struct rollout_journal *journal, const struct ev_content_delta *event)
{
	struct open_item *item = item_find(journal, event->item_id);
	if (item && !item->text.over) /* a text that exceeds the limit is dropped */
		buf_append_str(&item->text, event->delta);
	return 0;
}

static int on_item_completed(struct rollout_journal *journal, const struct event_msg *msg, struct error *err)
{
	const struct ev_item_completed *event = msg->item_completed;
	if (rollout_writer_is_paginated(journal->writer) || event->item->tag == turn_item_plan) {
		struct open_item *item = item_find(journal, *id_of(event->item));
		struct json_writer w = line_begin(journal, event->turn_id, item);
		union_encode(&union_turn_item, event->item, &w);
		if (line_end(journal, &w, item, err) != 0)
			return -(int)err->code;
		rollout_writer_flush_large(journal->writer); /* the legacy line has the same text */
	}
	return rollout_event_append_legacy(journal->writer, msg, err);
}

/* ---- tools ---- */

/* A command that does not begin before its approval has no event if it is declined: its item ends with the turn. */
static void on_exec_asked(struct rollout_journal *journal, const struct ev_exec_approval *event)
{
	struct open_item *item = item_begin(journal, event->turn_id, event->call_id);
	if (!item)
		return;
	struct json_writer w = json_writer(&item->item);
	item->is_asked = true;
	rollout_tool_item_command_asked(event, &w);
}

static void on_exec_begin(struct rollout_journal *journal, const struct ev_exec_begin *event)
{
	struct open_item *item = item_begin(journal, event->turn_id, event->call_id);
	if (item && event->process_id.ptr)
		item->process = str_dup(event->process_id);
}

static int on_exec_end(struct rollout_journal *journal, const struct ev_exec_end *event, struct error *err)
{
	struct open_item *item = open_items_find_command(&journal->open, event->call_id, event->process_id);
	struct json_writer w = line_begin(journal, event->turn_id, item);
	rollout_tool_item_command(event, item && item->is_declined, &w);
	return line_end(journal, &w, item, err);
}

static int on_patch_begin(struct rollout_journal *journal, struct str turn_id, const struct ev_patch_begin *event)
{
	struct open_item *item = item_begin(journal, turn_id, event->call_id);
	if (!item)
		return 0;
	struct json_writer w = json_writer(&item->item);
	rollout_tool_item_patch_begun(event->call_id, event->changes_keys, event->changes, event->changes_count, &w);
	return 0;
}

static int on_patch_asked(struct rollout_journal *journal, struct str turn_id, const struct ev_patch_approval *event)
{
	struct ev_patch_begin begin = {
		.call_id = event->call_id,
		.changes = event->changes,
		.changes_keys = event->changes_keys,
		.changes_count = event->changes_count,
	};
	return on_patch_begin(journal, turn_id, &begin);
}

static int on_patch_end(struct rollout_journal *journal, const struct ev_patch_end *event, struct error *err)
{
	struct open_item *item = item_find(journal, event->call_id);
	struct json_writer w = line_begin(journal, event->turn_id, item);
	rollout_tool_item_patch(event, item && item->is_declined, &w);
	return line_end(journal, &w, item, err);
}

static int on_image(struct rollout_journal *journal, struct str turn_id, const struct ev_view_image *event,
                    struct error *err)
{
	struct json_writer w = line_begin(journal, turn_id, NULL);
	rollout_tool_item_image(event, &w);
	return line_end(journal, &w, NULL, err);
}

static void on_dynamic_begin(struct rollout_journal *journal, const struct ev_dynamic_tool_call *event)
{
	struct open_item *item = item_begin(journal, event->turnId, event->callId);
	if (item)
		item->is_bare = true;
}

static int on_dynamic_end(struct rollout_journal *journal, const struct ev_dynamic_tool_done *event, struct error *err)
{
	struct open_item *item = item_find(journal, event->call_id);
	struct json_writer w = line_begin(journal, event->turn_id, item);
	rollout_tool_item_dynamic(event, &w);
	return line_end(journal, &w, item, err);
}

static void on_mcp_begin(struct rollout_journal *journal, struct str turn_id, const struct ev_mcp_call_begin *event)
{
	struct open_item *item = item_begin(journal, turn_id, event->call_id);
	if (!item)
		return;
	struct json_writer w = json_writer(&item->item);
	rollout_tool_item_mcp_begun(event, &w);
}

static int on_mcp_end(struct rollout_journal *journal, struct str turn_id, const struct ev_mcp_call_end *event,
                      struct error *err)
{
	struct open_item *item = item_find(journal, event->call_id);
	struct json_writer w = line_begin(journal, turn_id, item);
	rollout_tool_item_mcp(event, &w);
	return line_end(journal, &w, item, err);
}

static void on_collab_begin(struct rollout_journal *journal, struct str turn_id, const struct rollout_collab_item *call)
{
	struct open_item *item = item_begin(journal, turn_id, call->id);
	if (!item)
		return;
	struct json_writer w = json_writer(&item->item);
	rollout_collab_item_write(call, &w);
}

static int on_collab(struct rollout_journal *journal, struct str turn_id, const struct event_msg *event,
                     struct error *err)
{
	struct rollout_collab_item call;
	if (!rollout_collab_item_read(event, &call))
		return 0;
	if (!call.has_ended) {
		on_collab_begin(journal, turn_id, &call);
		return 0;
	}
	struct open_item *item = item_find(journal, call.id);
	struct json_writer w = line_begin(journal, turn_id, item);
	rollout_collab_item_write(&call, &w);
	return line_end(journal, &w, item, err);
}

/* ---- reviews ---- */

static int write_review(struct rollout_journal *journal, struct str turn_id, const char *kind, struct str id,
                        struct str review, struct error *err)
{
	if (!rollout_writer_is_paginated(journal->writer))
		return 0;
	struct json_writer w = line_begin(journal, turn_id, NULL);
	jw_object(&w);
	jw_member_cstr(&w, "type", kind);
	jw_member_str(&w, "id", id);
	jw_member_str(&w, "review", review);
	jw_object_end(&w);
	return line_end(journal, &w, NULL, err);
}

/* The legacy event has the findings as fields; the item has them as text. */
static int on_review(struct rollout_journal *journal, struct str turn_id, const struct event_msg *event,
                     struct error *err)
{
	auto_buf struct buf text;
	struct rollout_note note = {.turn_id = rollout_journal_turn_id(journal, turn_id)};
	int status;
	buf_init(&text, LIMIT_REVIEW_TEXT);
	if (event->tag == EV_entered_review_mode) {
		const struct ev_entered_review_mode *body = event->entered_review_mode;
		status =
			write_review(journal, turn_id, "EnteredReviewMode", body->item_id, body->user_facing_hint, err);
	} else {
		const struct ev_exited_review_mode *body = event->exited_review_mode;
		review_write_output(body->review_output, &text);
		status = write_review(journal, turn_id, "ExitedReviewMode", body->item_id, buf_str(&text), err);
	}
	return status ? status : rollout_event_append(journal->writer, &note, event, err);
}

/* ---- turns ---- */

static void name_turn(struct rollout_journal *journal, struct str turn_id)
{
	free(journal->wire_turn);
	journal->wire_turn = str_dup(turn_id);
	journal->turn[0] = '\0';
	if (!uuid_is_valid(turn_id) && rollout_writer_is_paginated(journal->writer))
		uuid_v7(journal->turn);
}

void rollout_journal_continue(struct rollout_journal *journal, struct str turn_id, struct str recorded_id)
{
	name_turn(journal, turn_id);
	if (journal->turn[0] && recorded_id.len < sizeof(journal->turn))
		snprintf(journal->turn, sizeof(journal->turn), "%.*s", STR_ARG(recorded_id));
	journal->started_at_ms = clock_unix_ms();
}

static int on_turn_begin(struct rollout_journal *journal, struct str turn_id, const struct event_msg *event,
                         struct error *err)
{
	name_turn(journal, turn_id);
	journal->started_at_ms = clock_unix_ms();
	buf_clear(&journal->error);
	struct rollout_note note = {
		.turn_id = rollout_journal_turn_id(journal, turn_id),
		.started_at_ms = journal->started_at_ms,
	};
	return rollout_event_append(journal->writer, &note, event, err);
}

/* Records the text that the user has seen. It is not sent to the model, and older versions ignore it. */
static void write_message(struct open_item *item)
{
	struct json_writer w = json_writer(&item->item);
	struct agent_text text = {.text = buf_str(&item->text)};
	struct agent_content content = {.tag = agent_content_text, .text = &text};
	struct agent_message_item message = {.id = str_of(item->id), .content = &content, .content_count = 1};
	union_encode(&union_turn_item, &(struct turn_item){.tag = turn_item_agent_message, .agent_message = &message},
	             &w);
}

/* Writes the item in its current state and removes it; returns the earlier failure, or its own. */
static int write_open(struct rollout_journal *journal, struct open_item *it, int earlier, struct error *err)
{
	struct json_writer w = line_begin(journal, STR_NONE, it);
	jw_raw(&w, buf_str(&it->item));
	int failure = line_end(journal, &w, it, err);
	return earlier ? earlier : failure;
}

/* Writes the open items of the turn in their current state, except background commands, which outlive the turn; or only
 * the commands that were declined before they began, so that others may have their ids. */
static int settle(struct rollout_journal *journal, bool is_over, struct error *err)
{
	struct open_item *it;
	int status = 0;
	list_for_each(it, &journal->open.list, link) {
		if (!is_over && !(it->is_asked && it->is_declined))
			continue;
		if (it->is_message)
			write_message(it);
		if (is_over && !it->process && (it->is_bare || it->item.over))
			open_items_remove(&journal->open, it); /* a later call may have its id */
		else if (it->item.len && !it->item.over)
			status = write_open(journal, it, status, err);
	}
	return status;
}

static int on_turn_end(struct rollout_journal *journal, struct str turn_id, const struct event_msg *event,
                       struct error *err)
{
	int status = settle(journal, true, err);
	open_items_leave(&journal->open);
	int64_t now_ms = clock_unix_ms(), began_ms = journal->started_at_ms;
	struct rollout_note note = {
		.turn_id = rollout_journal_turn_id(journal, turn_id),
		.error = journal->error.len ? buf_str(&journal->error) : STR_NONE,
		.started_at_ms = began_ms,
		.completed_at_ms = now_ms > began_ms ? now_ms : began_ms, /* the clock may have been set back */
	};
	int ended = rollout_event_append(journal->writer, &note, event, err);
	buf_clear(&journal->error);
	return status ? status : ended;
}

static int on_error(struct rollout_journal *journal, struct str turn_id, const struct ev_error *event)
{
	if (!journal->wire_turn || !str_is(turn_id, journal->wire_turn))
		return 0; /* this is the error of a rejected submission, not of the turn */
	buf_clear(&journal->error);
	struct json_writer w = json_writer(&journal->error);
	record_encode(&record_ev_error, event, &w);
	return 0;
}

/* A script's call that changes the checklist has no line of its own. */
static int on_plan_update(struct rollout_journal *journal, struct str turn_id, const struct event_msg *event,
                          struct error *err)
{
	struct rollout_note note = {.turn_id = rollout_journal_turn_id(journal, turn_id)};
	return rollout_event_append(journal->writer, &note, event, err);
}

/* ---- dispatch ---- */

/* Called for numbered files only. */
static int on_tool_event(struct rollout_journal *journal, struct str turn_id, const struct event_msg *event,
                         struct error *err)
{
	if (!rollout_writer_is_paginated(journal->writer))
		return 0;
	if (settle(journal, false, err) != 0)
		return -(int)err->code;
	switch (event->tag) {
	case EV_exec_command_begin:
		on_exec_begin(journal, event->exec_command_begin);
		return 0;
	case EV_model_turn_complete:
		open_items_leave(&journal->open);
		return 0;
	case EV_exec_approval_request:
		on_exec_asked(journal, event->exec_approval_request);
		return 0;
	case EV_exec_command_end:
		return on_exec_end(journal, event->exec_command_end, err);
	case EV_apply_patch_approval_request:
		return on_patch_asked(journal, turn_id, event->apply_patch_approval_request);
	case EV_patch_apply_begin:
		return on_patch_begin(journal, turn_id, event->patch_apply_begin);
	case EV_patch_apply_end:
		return on_patch_end(journal, event->patch_apply_end, err);
	case EV_dynamic_tool_call_request:
		on_dynamic_begin(journal, event->dynamic_tool_call_request);
		return 0;
	case EV_dynamic_tool_call_response:
		return on_dynamic_end(journal, event->dynamic_tool_call_response, err);
	case EV_mcp_tool_call_begin:
		on_mcp_begin(journal, turn_id, event->mcp_tool_call_begin);
		return 0;
	case EV_mcp_tool_call_end:
		return on_mcp_end(journal, turn_id, event->mcp_tool_call_end, err);
	case EV_view_image_tool_call:
		return on_image(journal, turn_id, event->view_image_tool_call, err);
	default:
		return on_collab(journal, turn_id, event, err);
	}
}

int rollout_journal_event(struct rollout_journal *journal, struct str turn_id, const struct event_msg *event,
                          struct error *err)
{
	switch (event->tag) {
	case EV_item_started:
		return on_item_started(journal, event->item_started);
	case EV_agent_message_content_delta:
		return on_delta(journal, event->agent_message_content_delta);
	case EV_item_completed:
		return on_item_completed(journal, event, err);
	case EV_task_started:
		return on_turn_begin(journal, turn_id, event, err);
	case EV_task_complete:
	case EV_turn_aborted:
		return on_turn_end(journal, turn_id, event, err);
	case EV_entered_review_mode:
	case EV_exited_review_mode:
		return on_review(journal, turn_id, event, err);
	case EV_error:
		return on_error(journal, turn_id, event->error);
	case EV_plan_update:
		return on_plan_update(journal, turn_id, event, err);
	case EV_token_count:
	case EV_subagent_lifecycle:
	case EV_agent_inbox:
	case EV_thread_goal_updated:
		return rollout_event_append(journal->writer, &(struct rollout_note){0}, event, err);
	default:
		return on_tool_event(journal, turn_id, event, err);
	}
}
