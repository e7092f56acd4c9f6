/* The root's rollout records all changes of the tree, so its events are replayed; the rollout of an agent is read only
 * for its token usage. A recorded status of a working agent is valid only while a process holds the session. */
#include "ui/sessions/agents_view.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/message/message.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_lock.h"
#include "rollout/rollout_reader.h"
#include "ui/cli/terminal.h"

enum { AGENTS_VIEW_DEPTH = 16 }; /* most levels that are indented */

/* ---- reading ---- */

static struct seen_agent *find(struct agents_view *view, int64_t id)
{
	vec_for_each(agent, &view->agents) {
		if (agent->about.agent_id == id)
			return agent;
	}
	return NULL;
}

static void take_created(struct agents_view *view, const struct subagent_summary *summary)
{
	struct seen_agent *agent = find(view, summary->agent_id);
	if (summary->agent_id <= 0)
		return;
	if (agent)
		agent->about = *summary; /* the agent was reopened */
	else if (view->agents.count <= LIMIT_AGENTS)
		vec_push(&view->agents, (struct seen_agent){.about = *summary});
}

static void take_deleted(struct agents_view *view, int64_t id)
{
	size_t kept = 0;
	for (size_t i = 0; i < view->agents.count; i++) {
		if (view->agents.items[i].about.agent_id != id || id <= 0)
			view->agents.items[kept++] = view->agents.items[i];
	}
	view->agents.count = kept;
}

static void take_lifecycle(struct agents_view *view, const struct ev_subagent_lifecycle *event)
{
	struct seen_agent *agent = find(view, event->agent_id);
	if (event->event == subagent_change_created && event->subagent)
		take_created(view, event->subagent);
	else if (event->event == subagent_change_deleted)
		take_deleted(view, event->agent_id);
	else if (agent && event->event == subagent_change_status && event->has_status)
		agent->about.status = event->status;
	else if (agent && event->event == subagent_change_reasoning_header)
		agent->about.reasoning_header = event->reasoning_header;
}

static void take(struct agents_view *view, struct str payload)
{
	struct event_msg event;
	const struct json *json = json_parse_copy(&view->arena, payload, NULL);
	if (!json || union_decode(&union_event_msg, json, &view->arena, &event, NULL) != 0)
		return;
	if (event.tag == EV_subagent_lifecycle) {
		take_lifecycle(view, event.subagent_lifecycle);
		return;
	}
	const struct ev_agent_inbox *inbox = event.tag == EV_agent_inbox ? event.agent_inbox : NULL;
	struct seen_agent *agent = inbox ? find(view, inbox->agent_id) : NULL;
	if (!agent)
		return;
	agent->about.pending_messages = inbox->pending_messages;
	agent->about.pending_interrupts = inbox->pending_interrupts;
}

static void take_tokens(struct seen_agent *agent, const struct rollout_reader *reader)
{
	auto_arena struct arena arena = {0};
	struct token_usage_info info;
	const struct json *json = reader->token_info.ptr ? json_parse(&arena, reader->token_info, NULL) : NULL;
	if (!json || record_decode(&record_token_usage_info, json, &arena, &info, NULL) != 0)
		return;
	agent->has_tokens = true;
	agent->tokens = info.total_token_usage->total_tokens;
}

static void read_tokens(struct seen_agent *agent, const char *home)
{
	auto_free char *path = rollout_list_find_id(home, agent->about.session_id, NULL);
	struct rollout_reader *reader = path ? rollout_reader_create_for(path, ROLLOUT_HISTORY, NULL) : NULL;
	if (reader)
		take_tokens(agent, reader);
	rollout_reader_destroy(reader);
}

static bool is_held(const char *home, struct str thread_id)
{
	long pid;
	auto_free char *path = xasprintf("%s/thread-writer-locks/%.*s.lock", home, STR_ARG(thread_id));
	return rollout_lock_find_holder(path, &pid);
}

int agents_view_read(const char *home, const char *path, struct agents_view *ret, struct error *err)
{
	*ret = (struct agents_view){0};
	struct rollout_reader *reader = rollout_reader_create_for(path, ROLLOUT_HISTORY, err);
	if (!reader)
		return -(int)err->code;
	ret->session_id = arena_str(&ret->arena, reader->meta.thread_id);
	ret->is_live = is_held(home, ret->session_id);
	struct seen_agent root = {.about = {.session_id = ret->session_id, .status = subagent_status_running}};
	if (!clock_parse_rfc3339(reader->meta.timestamp, &root.about.started_at_ms))
		root.about.started_at_ms = 0;
	if (!ret->is_live || !reader->is_turn_open)
		root.about.status = subagent_status_idle;
	take_tokens(&root, reader);
	vec_push(&ret->agents, root);
	vec_for_each(record, &reader->records) {
		if (rollout_is_about_agents(record->type, record->payload))
			take(ret, record->payload);
	}
	rollout_reader_destroy(reader);
	for (size_t i = 1; i < ret->agents.count; i++)
		read_tokens(&ret->agents.items[i], home);
	return 0;
}

void agents_view_finish(struct agents_view *view)
{
	vec_finish(&view->agents);
	arena_finish(&view->arena);
}

/* ---- for people ---- */

static void write_age(int64_t age_ms, char out[16])
{
	static const struct {
		int64_t ms;
		char unit;
	} units[] = {{24 * 3600 * 1000, 'd'}, {3600 * 1000, 'h'}, {60 * 1000, 'm'}, {1000, 's'}};
	size_t i = 0;
	while (i < countof(units) - 1 && age_ms < units[i].ms)
		i++;
	snprintf(out, 16, "%lld%c", age_ms > 0 ? (long long)(age_ms / units[i].ms) : 0, units[i].unit);
}

/* Writes the length of the inbox: "2", or "2+1" with one interrupt. */
static void write_inbox(const struct subagent_summary *about, char out[24])
{
	snprintf(out, 24, about->pending_interrupts > 0 ? "%lld+%lld" : "%lld", (long long)about->pending_messages,
	         (long long)about->pending_interrupts);
}

static const char *status_of(const struct agents_view *view, const struct seen_agent *agent)
{
	bool is_active = agent->about.status <= subagent_status_ready;
	return is_active && !view->is_live ? "stopped" : enum_wire(&enum_subagent_status, (int)agent->about.status);
}

static void print_one(const struct agents_view *view, const struct seen_agent *agent, unsigned depth, int64_t now_ms,
                      struct buf *out)
{
	const struct subagent_summary *about = &agent->about;
	char age[16] = "", inbox[24], tokens[24] = "-", parent[24] = "-";
	struct str name = about->label.len ? about->label : about->agent_id ? about->summary : STR("the root");
	if (about->started_at_ms > 0)
		write_age(now_ms - about->started_at_ms, age);
	write_inbox(about, inbox);
	if (agent->has_tokens)
		snprintf(tokens, sizeof(tokens), "%lld", (long long)agent->tokens);
	if (about->agent_id)
		snprintf(parent, sizeof(parent), "%lld", (long long)about->parent_agent_id);
	buf_printf(out, "%4lld %6s  %-8s %6s %9s %5s  %*s", (long long)about->agent_id, parent, status_of(view, agent),
	           inbox, tokens, age, (int)depth * 2, "");
	terminal_text_append(out, name);
	if (about->reasoning_header.len) {
		buf_append_c(out, " · ");
		terminal_text_append(out, about->reasoning_header);
	}
	buf_append_char(out, '\n');
}

/* Prints the children of an agent below it. Numbers increase from parent to child, so the recursion ends. */
static void print_below(const struct agents_view *view, int64_t parent, unsigned depth, int64_t now_ms, struct buf *out)
{
	vec_for_each(agent, &view->agents) {
		int64_t id = agent->about.agent_id;
		if (id == 0 || agent->about.parent_agent_id != parent || id <= parent)
			continue;
		print_one(view, agent, depth, now_ms, out);
		if (depth < AGENTS_VIEW_DEPTH)
			print_below(view, id, depth + 1, now_ms, out);
	}
}

void agents_view_print(const struct agents_view *view, int64_t now_ms, struct buf *out)
{
	buf_append_c(out, "Session ");
	terminal_text_append(out, view->session_id);
	buf_printf(out, ", %s\n", view->is_live ? "in use" : "stored");
	buf_append_c(out, "  ID PARENT  STATUS    INBOX    TOKENS   AGE  AGENT\n");
	print_one(view, &view->agents.items[0], 0, now_ms, out);
	print_below(view, 0, 1, now_ms, out);
}

/* ---- for programs ---- */

static void write_one(const struct agents_view *view, const struct seen_agent *agent, struct json_writer *w)
{
	const struct subagent_summary *about = &agent->about;
	jw_object(w);
	jw_member_i64(w, "agent_id", about->agent_id);
	jw_key(w, "parent_agent_id");
	if (about->agent_id)
		jw_i64(w, about->parent_agent_id);
	else
		jw_null(w);
	jw_member_str(w, "session_id", about->session_id);
	jw_member_cstr(w, "status", status_of(view, agent));
	jw_member_str(w, "label", about->label);
	jw_member_str(w, "summary", about->summary);
	jw_member_str(w, "reasoning_header", about->reasoning_header);
	jw_member_i64(w, "started_at_ms", about->started_at_ms);
	jw_member_i64(w, "pending_messages", about->pending_messages);
	jw_member_i64(w, "pending_interrupts", about->pending_interrupts);
	jw_key(w, "tokens");
	if (agent->has_tokens)
		jw_i64(w, agent->tokens);
	else
		jw_null(w);
	jw_object_end(w);
}

void agents_view_print_json(const struct agents_view *view, const char *path, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "session_id", view->session_id);
	jw_member_cstr(&w, "path", path);
	jw_member_bool(&w, "is_live", view->is_live);
	jw_key(&w, "agents");
	jw_array(&w);
	vec_for_each(agent, &view->agents)
		write_one(view, agent, &w);
	jw_array_end(&w);
	jw_object_end(&w);
	buf_append_char(out, '\n');
}
