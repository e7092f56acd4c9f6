/* Ten kinds of events have one form in the file: they are first converted to struct rollout_collab_item, then written
 * by one function. */
#include "rollout/rollout_collab_item.h"

#include "base/limits.h"
#include "base/text.h"

/* ---- from events ---- */

static struct rollout_collab_item begun(const char *tool, struct str id, struct str sender_id,
                                        const struct str *receivers, size_t count)
{
	return (struct rollout_collab_item){
		.id = id, .tool = tool, .sender_id = sender_id, .receivers = receivers, .count = count};
}

static struct rollout_collab_item ended(const char *tool, struct str id, struct str sender_id,
                                        const struct str *receivers, const struct agent_status *statuses, size_t count)
{
	struct rollout_collab_item item = begun(tool, id, sender_id, receivers, count);
	item.statuses = statuses;
	item.has_ended = true;
	return item;
}

static struct rollout_collab_item read_spawn_begin(const struct ev_collab_spawn_begin *event)
{
	struct rollout_collab_item item = begun("spawn_agent", event->call_id, event->sender_thread_id, NULL, 0);
	item.prompt = event->prompt;
	item.model = event->model;
	item.has_effort = event->has_reasoning_effort;
	item.effort = event->reasoning_effort;
	return item;
}

static struct rollout_collab_item read_spawn_end(const struct ev_collab_spawn_end *event)
{
	struct rollout_collab_item item = ended("spawn_agent", event->call_id, event->sender_thread_id,
	                                        &event->new_thread_id, event->status, event->new_thread_id.ptr ? 1 : 0);
	item.nickname = event->new_agent_nickname;
	item.prompt = event->prompt;
	item.model = event->model;
	item.has_effort = event->has_reasoning_effort;
	item.effort = event->reasoning_effort;
	return item;
}

static struct rollout_collab_item read_message_begin(const struct ev_collab_interaction_begin *event)
{
	struct rollout_collab_item item =
		begun("send_input", event->call_id, event->sender_thread_id, &event->receiver_thread_id, 1);
	item.prompt = event->prompt;
	return item;
}

static struct rollout_collab_item read_message_end(const struct ev_collab_interaction_end *event)
{
	struct rollout_collab_item item = ended("send_input", event->call_id, event->sender_thread_id,
	                                        &event->receiver_thread_id, event->status, 1);
	item.nickname = event->receiver_agent_nickname;
	item.prompt = event->prompt;
	return item;
}

static struct rollout_collab_item read_wait_begin(const struct ev_collab_waiting_begin *event)
{
	struct rollout_collab_item item = begun("wait", event->call_id, event->sender_thread_id,
	                                        event->receiver_thread_ids, event->receiver_thread_ids_count);
	item.agents = event->receiver_agents;
	item.agent_count = event->receiver_agents_count;
	return item;
}

static struct rollout_collab_item read_wait_end(const struct ev_collab_waiting_end *event)
{
	struct rollout_collab_item item = ended("wait", event->call_id, event->sender_thread_id, event->statuses_keys,
	                                        event->statuses, event->statuses_count);
	item.entries = event->agent_statuses;
	item.entry_count = event->agent_statuses_count;
	return item;
}

static bool read_begin(const struct event_msg *event, struct rollout_collab_item *ret)
{
	const struct ev_collab_close_begin *close = event->collab_close_begin;
	const struct ev_collab_resume_begin *resume = event->collab_resume_begin;
	switch (event->tag) {
	case EV_collab_agent_spawn_begin:
		*ret = read_spawn_begin(event->collab_agent_spawn_begin);
		return true;
	case EV_collab_agent_interaction_begin:
		*ret = read_message_begin(event->collab_agent_interaction_begin);
		return true;
	case EV_collab_waiting_begin:
		*ret = read_wait_begin(event->collab_waiting_begin);
		return true;
	case EV_collab_close_begin:
		*ret = begun("close_agent", close->call_id, close->sender_thread_id, &close->receiver_thread_id, 1);
		return true;
	case EV_collab_resume_begin:
		*ret = begun("resume_agent", resume->call_id, resume->sender_thread_id, &resume->receiver_thread_id, 1);
		ret->nickname = resume->receiver_agent_nickname;
		return true;
	default:
		return false;
	}
}

static bool read_end(const struct event_msg *event, struct rollout_collab_item *ret)
{
	const struct ev_collab_close_end *close = event->collab_close_end;
	const struct ev_collab_resume_end *resume = event->collab_resume_end;
	switch (event->tag) {
	case EV_collab_agent_spawn_end:
		*ret = read_spawn_end(event->collab_agent_spawn_end);
		return true;
	case EV_collab_agent_interaction_end:
		*ret = read_message_end(event->collab_agent_interaction_end);
		return true;
	case EV_collab_waiting_end:
		*ret = read_wait_end(event->collab_waiting_end);
		return true;
	case EV_collab_close_end:
		*ret = ended("close_agent", close->call_id, close->sender_thread_id, &close->receiver_thread_id,
		             close->status, 1);
		ret->nickname = close->receiver_agent_nickname;
		return true;
	case EV_collab_resume_end:
		*ret = ended("resume_agent", resume->call_id, resume->sender_thread_id, &resume->receiver_thread_id,
		             resume->status, 1);
		ret->nickname = resume->receiver_agent_nickname;
		return true;
	default:
		return false;
	}
}

bool rollout_collab_item_read(const struct event_msg *event, struct rollout_collab_item *ret)
{
	return read_begin(event, ret) || read_end(event, ret);
}

/* ---- as JSON ---- */

/* Returns the status of the call: it has failed if no agent was started, or if an agent that it names does not
 * exist. */
static const char *status_of(const struct rollout_collab_item *item)
{
	if (!item->has_ended)
		return "interrupted";
	if (!item->count && str_is(str_of(item->tool), "spawn_agent"))
		return "failed";
	for (size_t i = 0; i < item->count; i++) {
		if (item->statuses[i].tag == agent_status_not_found)
			return "failed";
	}
	return "completed";
}

static struct str nickname_of(const struct rollout_collab_item *item, size_t i)
{
	if (item->agents)
		return i < item->agent_count ? item->agents[i].agent_nickname : STR_NONE;
	if (item->entries)
		return i < item->entry_count ? item->entries[i].agent_nickname : STR_NONE;
	return item->nickname;
}

static void write_receivers(const struct rollout_collab_item *item, struct json_writer *w)
{
	jw_key(w, "receiver_thread_ids");
	jw_array(w);
	for (size_t i = 0; i < item->count; i++)
		jw_str(w, item->receivers[i]);
	jw_array_end(w);
	jw_key(w, "receiver_agents");
	jw_array(w);
	for (size_t i = 0; i < item->count; i++) {
		jw_object(w);
		struct str nickname = nickname_of(item, i);
		jw_member_str(w, "thread_id", item->receivers[i]);
		if (nickname.ptr)
			jw_member_str(w, "agent_nickname", nickname);
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void write_words(const char *kind, struct str words, size_t most, struct json_writer *w)
{
	auto_buf struct buf cut;
	buf_init(&cut, 2 * most);
	if (words.len > most) {
		text_append_middle(&cut, words, (struct text_budget){TEXT_BYTES, most});
		words = buf_str(&cut);
	}
	jw_object(w);
	jw_member_str(w, kind, words);
	jw_object_end(w);
}

/* The messages share half of LIMIT_LINE and are shortened in the middle. The rest is for keys and for JSON escapes of
 * two bytes; a message of control characters, which take six, can still make a longer line. */
static void write_statuses(const struct rollout_collab_item *item, struct json_writer *w)
{
	size_t most = LIMIT_LINE / 2 / (item->count ? item->count : 1);
	jw_key(w, "agents_states");
	jw_object(w);
	for (size_t i = 0; item->statuses && i < item->count; i++) {
		const struct agent_status *status = &item->statuses[i];
		jw_key_str(w, item->receivers[i]);
		if (status->tag == agent_status_completed)
			write_words("completed", status->completed->message, most, w);
		else if (status->tag == agent_status_errored)
			write_words("errored", status->errored->message, most, w);
		else
			union_encode(&union_agent_status, status, w);
	}
	jw_object_end(w);
}

void rollout_collab_item_write(const struct rollout_collab_item *item, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "type", "CollabAgentToolCall");
	jw_member_str(w, "id", item->id);
	jw_member_cstr(w, "tool", item->tool);
	jw_member_cstr(w, "status", status_of(item));
	jw_member_str(w, "sender_thread_id", item->sender_id);
	write_receivers(item, w);
	if (item->prompt.ptr)
		jw_member_str(w, "prompt", item->prompt);
	if (item->model.ptr)
		jw_member_str(w, "model", item->model);
	if (item->has_effort)
		jw_member_cstr(w, "reasoning_effort", enum_wire(&enum_reasoning_effort, (int)item->effort));
	write_statuses(item, w);
	jw_object_end(w);
}
