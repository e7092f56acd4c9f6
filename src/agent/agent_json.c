/* Members are in the order that codex 0.169 uses, so that transcripts can be compared line by line. */
#include "agent/agent_json.h"

#include "base/clock.h"
#include "base/limits.h"
#include "protocol/record/enum.h"

struct subagent_summary agent_summary(const struct agent *agent)
{
	return (struct subagent_summary){
		.agent_id = (int64_t)agent->id,
		.parent_agent_id = agent->parent ? (int64_t)agent->parent->id : 0,
		.session_id = str_of(agent->session_id),
		.parent_session_id = agent->parent ? str_of(agent->parent->session_id) : STR_NONE,
		.origin = agent->origin,
		.status = agent->status,
		.label = str_of(agent->label),
		.role = str_of(agent->role),
		.summary = str_of(agent->summary),
		.reasoning_header = str_of(agent->header),
		.started_at_ms = agent->started_at_ms,
		.pending_messages = (int64_t)agent->inbox.regular_count,
		.pending_interrupts = (int64_t)agent->inbox.interrupt_count,
	};
}

static void write_ids(const struct agent *agent, struct json_writer *w)
{
	jw_member_i64(w, "agent_id", (int64_t)agent->id);
	jw_member_i64(w, "parent_agent_id", agent->parent ? (int64_t)agent->parent->id : 0);
}

static const char *parent_session(const struct agent *agent)
{
	return agent->parent ? agent->parent->session_id : NULL;
}

static void write_origin(const struct agent *agent, struct json_writer *w)
{
	jw_member_cstr(w, "origin", enum_wire(&enum_subagent_origin, (int)agent->origin));
}

static void write_status(const struct agent *agent, struct json_writer *w)
{
	jw_member_cstr(w, "status", enum_wire(&enum_subagent_status, (int)agent->status));
}

static void write_depths(const struct agent *agent, struct json_writer *w)
{
	jw_member_i64(w, "pending_messages", (int64_t)agent->inbox.regular_count);
	jw_member_i64(w, "pending_interrupts", (int64_t)agent->inbox.interrupt_count);
}

void agent_write_head(const struct agent *agent, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "session_id", agent->session_id);
	write_ids(agent, w);
	write_origin(agent, w);
	write_status(agent, w);
}

void agent_write_tail(const struct agent *agent, struct json_writer *w)
{
	jw_member_cstr(w, "label", agent->label);
	jw_member_cstr(w, "summary", agent->summary);
	jw_member_cstr(w, "parent_session_id", parent_session(agent));
	jw_member_i64(w, "started_at_ms", agent->started_at_ms);
	jw_member_i64(w, "initial_message_count", (int64_t)agent->initial_messages);
	write_depths(agent, w);
	jw_object_end(w);
}

void agent_write_listed(const struct agent *agent, struct json_writer *w)
{
	jw_object(w);
	write_ids(agent, w);
	jw_member_cstr(w, "session_id", agent->session_id);
	jw_member_cstr(w, "parent_session_id", parent_session(agent));
	write_origin(agent, w);
	write_status(agent, w);
	jw_member_cstr(w, "label", agent->label);
	jw_member_cstr(w, "summary", agent->summary);
	jw_member_cstr(w, "reasoning_header", agent->header);
	jw_member_i64(w, "started_at_ms", agent->started_at_ms);
	jw_member_i64(w, "initial_message_count", (int64_t)agent->initial_messages);
	write_depths(agent, w);
	jw_object_end(w);
}

void agent_write_canceled(const struct agent *agent, struct str reason, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "session_id", agent->session_id);
	jw_member_i64(w, "agent_id", (int64_t)agent->id);
	write_origin(agent, w);
	write_status(agent, w);
	jw_member_cstr(w, "label", agent->label);
	jw_member_cstr(w, "summary", agent->summary);
	jw_member_cstr(w, "parent_session_id", parent_session(agent));
	jw_member_i64(w, "started_at_ms", agent->started_at_ms);
	jw_member_i64(w, "initial_message_count", (int64_t)agent->initial_messages);
	jw_member_str(w, "reason", reason.len ? reason : STR_NONE);
	jw_object_end(w);
}

/* ---- the result of a wait ---- */

static void write_message(const struct agent *reader, const struct agent_message *message, struct json_writer *w)
{
	jw_object(w);
	jw_member_i64(w, "sender_agent_id", (int64_t)message->sender);
	jw_member_i64(w, "recipient_agent_id", (int64_t)reader->id);
	jw_member_bool(w, "interrupt", message->is_interrupt);
	jw_member_str(w, "prompt", message->text.ptr ? message->text : STR(""));
	jw_member_i64(w, "timestamp_ms", message->at_ms);
	jw_object_end(w);
}

/* Writes messages. A result without text appears only in `completion`. */
static void write_messages(const struct agent *reader, const struct agent_news *news, struct json_writer *w)
{
	jw_key(w, "messages");
	jw_array(w);
	for (size_t i = 0; i < news->count; i++) {
		if (news->messages[i]->text.ptr)
			write_message(reader, news->messages[i], w);
	}
	jw_array_end(w);
}

/* Writes {"Completed":{"last_message":…}}, {"Canceled":{"reason":…}} or {"Failed":{"message":…}}. */
static void write_completion(const struct agent_result *result, struct json_writer *w)
{
	static const char *const words[][2] = {
		[agent_outcome_completed] = {"Completed", "last_message"},
		[agent_outcome_canceled] = {"Canceled", "reason"},
		[agent_outcome_failed] = {"Failed", "message"},
	};
	jw_key(w, "completion");
	if (result->outcome == agent_outcome_none) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_key(w, words[result->outcome][0]);
	jw_object(w);
	jw_member_cstr(w, words[result->outcome][1], result->text);
	jw_object_end(w);
	jw_object_end(w);
}

static void write_metadata(const struct agent *agent, struct json_writer *w)
{
	jw_key(w, "metadata");
	if (!agent) {
		jw_null(w);
		return;
	}
	jw_object(w);
	write_ids(agent, w);
	jw_member_cstr(w, "session_id", agent->session_id);
	jw_member_cstr(w, "parent_session_id", parent_session(agent));
	write_origin(agent, w);
	jw_member_i64(w, "initial_message_count", (int64_t)agent->initial_messages);
	write_status(agent, w);
	jw_member_cstr(w, "label", agent->label);
	jw_member_cstr(w, "summary", agent->summary);
	jw_member_cstr(w, "reasoning_header", agent->header);
	write_depths(agent, w);
	jw_object_end(w);
}

static void write_sibling(const struct agent *agent, struct json_writer *w)
{
	auto_buf struct buf name;
	buf_init(&name, LIMIT_AGENT_MESSAGE + 64);
	agent_write_name(agent, &name);
	jw_object(w);
	jw_member_i64(w, "id", (int64_t)agent->id);
	jw_member_str(w, "name", buf_str(&name));
	jw_member_cstr(w, "state", enum_wire(&enum_subagent_status, (int)agent->status));
	jw_object_end(w);
}

/* Writes the states of all the reader's children, which saves a call of subagent_list. */
static void write_family(const struct agent *reader, struct json_writer *w)
{
	const struct agent *agent;
	char now[CLOCK_RFC3339_SIZE];
	clock_rfc3339(clock_unix_ms(), now);
	jw_key(w, "subagent_tool_metadata");
	jw_object(w);
	jw_key(w, "subagents");
	jw_array(w);
	list_for_each(agent, &reader->tree->agents, link) {
		if (agent->parent == reader)
			write_sibling(agent, w);
	}
	jw_array_end(w);
	jw_member_cstr(w, "now_local", now);
	jw_object_end(w);
}

void agent_write_news(const struct agent *reader, const struct agent_news *news, struct json_writer *w)
{
	static const char *const outcomes[] = {
		[agent_outcome_completed] = "completed",
		[agent_outcome_canceled] = "canceled",
		[agent_outcome_failed] = "failed",
	};
	static const struct agent_result none = {0};
	const struct agent *about = news->about;
	const struct agent_result *result = news->timed_out || !about ? &none : &about->result;
	jw_object(w);
	jw_member_cstr(w, "session_id", about ? about->session_id : NULL);
	jw_member_cstr(w, "completion_status", outcomes[result->outcome]);
	jw_member_cstr(w, "lifecycle_status", about ? enum_wire(&enum_subagent_status, (int)about->status) : NULL);
	jw_member_i64(w, "started_at_ms", about ? about->started_at_ms : 0);
	jw_member_bool(w, "timed_out", news->timed_out);
	write_messages(reader, news, w);
	write_completion(result, w);
	write_metadata(about, w);
	jw_member_bool(w, "injected", news->is_injected);
	if (!news->has_more)
		write_family(reader, w);
	jw_object_end(w);
}
