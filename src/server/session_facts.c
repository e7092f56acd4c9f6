/* A request that was answered leaves the list at once, before the engine confirms the answer, so that no other client
 * offers it any more. */
#include "server/session_facts.h"

#include <stdlib.h>

#include "attach/attach_frame.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/message/message.h"

enum { TITLE_CHARACTERS = 80 };

struct request {
	struct list link;
	struct event *event;
	uint64_t seq, peer; /* here, and where the session runs */
};

void session_facts_init(struct session_facts *facts)
{
	*facts = (struct session_facts){.updated_at = clock_unix_ms() / 1000};
	list_init(&facts->waiting);
}

static void remove_request(struct request *request)
{
	list_remove(&request->link);
	event_destroy(request->event);
	free(request);
}

/* Removes the requests of this turn and those without a Task, NULL: all. Those of subagents have other turns. */
static void remove_of(struct session_facts *facts, struct str turn)
{
	struct request *it;
	list_for_each(it, &facts->waiting, link) {
		struct str task = it->event->id;
		if (!turn.ptr || !task.len || str_eq(task, turn))
			remove_request(it);
	}
}

void session_facts_finish(struct session_facts *facts)
{
	remove_of(facts, STR_NONE);
	free(facts->thread_id);
	free(facts->name);
	free(facts->prompt);
	free(facts->cwd);
	free(facts->model);
}

static void set(char **slot, struct str text)
{
	free(*slot);
	*slot = text.len ? str_dup(text) : NULL;
}

/* ---- the title ---- */

/* The first characters of a prompt. */
static struct str beginning(struct str text)
{
	size_t at = 0;
	for (unsigned count = 0; at < text.len && count < TITLE_CHARACTERS; count++) {
		size_t len = text_utf8_len(str_skip(text, at));
		at += len ? len : 1;
	}
	return str_n(text.ptr, at);
}

static void note_prompt(struct session_facts *facts, struct str text)
{
	text = str_trim(text);
	if (!facts->prompt && text.len)
		set(&facts->prompt, beginning(text));
}

static bool note_item(struct session_facts *facts, const struct turn_item *item)
{
	if (facts->prompt || item->tag != turn_item_user_message)
		return false;
	const struct user_message_item *message = item->user_message;
	for (size_t i = 0; i < message->content_count; i++)
		if (message->content[i].tag == user_input_text)
			note_prompt(facts, message->content[i].text->text);
	return facts->prompt;
}

/* Finds the first prompt among the events of a resumed session. */
static void note_past(struct session_facts *facts, struct str messages)
{
	struct str rest = str_trim(messages);
	bool has_more = str_cut_prefix(&rest, "[");
	while (has_more && !facts->prompt && !str_has_prefix(str_trim_start(rest), "]")) {
		auto_arena struct arena arena = {0};
		const struct json *msg = json_parse_next(&arena, &rest, NULL), *part;
		const struct json *item = json_get(msg, "item"), *content = json_get(item, "content");
		has_more = msg;
		if (!str_is(json_get_str(item, "type"), "UserMessage") || !json_is(content, JSON_array))
			continue;
		for (part = content->child; part; part = part->next)
			note_prompt(facts, json_get_str(part, "text"));
	}
}

/* ---- events ---- */

static bool add_request(struct session_facts *facts, const struct event *event, uint64_t seq)
{
	struct request *request = xnew(struct request);
	request->event = event_create(event->id, event->msg.tag, event->msg.body);
	request->seq = seq;
	request->peer = facts->peer;
	list_append(&facts->waiting, &request->link);
	return true;
}

/* Several agents may ask under the same call id. */
static bool is_answered(const struct request *it, const struct attach_answered *answered)
{
	if (answered->seq && it->peer)
		return answered->seq == it->peer;
	return str_eq(attach_request_id(it->event), answered->request) &&
	       (!answered->task.ptr || str_eq(it->event->id, answered->task));
}

bool session_facts_on_answer(struct session_facts *facts, const struct attach_answered *answered)
{
	struct request *it;
	list_for_each(it, &facts->waiting, link) {
		if (!is_answered(it, answered))
			continue;
		remove_request(it);
		return true;
	}
	return false;
}

static bool end_call(struct session_facts *facts, struct str call_id, struct str task)
{
	return session_facts_on_answer(facts, &(struct attach_answered){call_id, task, 0});
}

static bool configure(struct session_facts *facts, const struct ev_session_configured *body)
{
	set(&facts->thread_id, body->session_id);
	set(&facts->name, body->thread_name);
	set(&facts->cwd, body->cwd);
	set(&facts->model, body->model);
	note_past(facts, body->initial_messages);
	return true;
}

bool session_facts_on_event(struct session_facts *facts, const struct event *event, uint64_t seq)
{
	const struct event_msg *msg = &event->msg;
	facts->updated_at = clock_unix_ms() / 1000;
	switch (msg->tag) {
	case EV_session_configured:
		return configure(facts, msg->session_configured);
	case EV_thread_name_updated:
		set(&facts->name, msg->thread_name_updated->thread_name);
		return true;
	case EV_task_started:
		facts->is_running = true;
		return true;
	case EV_task_complete:
	case EV_turn_aborted:
		facts->is_running = false;
		remove_of(facts, event->id);
		return true;
	case EV_exec_approval_request:
	case EV_apply_patch_approval_request:
	case EV_request_user_input:
	case EV_elicitation_request:
		return add_request(facts, event, seq);
	case EV_exec_command_end:
		return end_call(facts, msg->exec_command_end->call_id, event->id);
	case EV_patch_apply_end:
		return end_call(facts, msg->patch_apply_end->call_id, event->id);
	case EV_request_user_input_expired:
		return end_call(facts, msg->request_user_input_expired->call_id, event->id);
	case EV_item_completed:
		return note_item(facts, msg->item_completed->item);
	default:
		return msg->tag == EV_shutdown_complete;
	}
}

/* Returns the request that the engine takes the Op for, NULL: none. It ignores an answer that requests of several
 * agents match. */
static struct request *find_answered(const struct session_facts *facts, const struct op *op)
{
	struct request *it, *found = NULL;
	struct attach_match match = {.op = op};
	list_for_each(it, &facts->waiting, link) {
		attach_match_add(&match, it->event);
		found = match.found == it->event ? it : found;
	}
	return match.is_ambiguous ? NULL : found;
}

bool session_facts_on_op(struct session_facts *facts, const struct op *op, uint64_t *ret_peer)
{
	struct request *found = find_answered(facts, op);
	*ret_peer = found ? found->peer : 0;
	if (found)
		remove_request(found);
	return found;
}

bool session_facts_has_open(const struct session_facts *facts, uint64_t seq, const struct op *op)
{
	const struct request *found = find_answered(facts, op);
	return found && found->seq == seq;
}

const char *session_facts_state(const struct session_facts *facts)
{
	return !list_empty(&facts->waiting) ? "blocked" : facts->is_running ? "running" : "idle";
}

void session_facts_write(const struct session_facts *facts, struct json_writer *w)
{
	struct request *it;
	jw_member_cstr(w, "thread_id", facts->thread_id);
	jw_member_cstr(w, "title", facts->name ? facts->name : facts->prompt);
	jw_member_cstr(w, "cwd", facts->cwd);
	jw_member_cstr(w, "model", facts->model);
	jw_key(w, "waiting");
	jw_array(w);
	list_for_each(it, &facts->waiting, link)
		jw_str(w, attach_request_id(it->event));
	jw_array_end(w);
	jw_key(w, "waiting_in");
	jw_array(w);
	list_for_each(it, &facts->waiting, link)
		jw_str(w, it->event->id);
	jw_array_end(w);
	jw_key(w, "waiting_seq");
	jw_array(w);
	list_for_each(it, &facts->waiting, link)
		jw_u64(w, it->seq);
	jw_array_end(w);
	jw_member_i64(w, "updated_at", facts->updated_at);
}
