/* The prompts of a session are answered by the events that end its tasks (acp_event.c). Several prompts can wait: one
 * that arrives while a task runs joins that task. */
#include "acp/acp_session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "acp/acp_limits.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"
#include "engine/codex/codex.h"

struct acp_session *acp_session_find(const struct acp_server *server, struct str id)
{
	struct acp_session *it;
	list_for_each(it, &server->sessions, link) {
		if (it->id[0] && !it->is_dead && str_is(id, it->id))
			return it;
	}
	return NULL;
}

struct acp_session *acp_session_create(struct acp_server *server)
{
	struct acp_session *session = xnew(struct acp_session);
	session->server = server;
	list_init(&session->prompts);
	list_init(&session->tools);
	list_init(&session->late);
	buf_init(&session->replay, LIMIT_RPC_LIST);
	list_append(&server->sessions, &session->link);
	server->session_count++;
	return session;
}

static void free_data(struct acp_session *session)
{
	struct acp_tool *tool;
	struct event *event;
	list_for_each(tool, &session->tools, link)
		acp_tool_remove(tool);
	list_for_each(event, &session->late, link) {
		list_remove(&event->link);
		event_destroy(event);
	}
	vec_for_each(id, &session->streamed)
		free(*id);
	vec_finish(&session->streamed);
	vec_for_each(root, &session->roots)
		str_free(root);
	vec_finish(&session->roots);
	buf_finish(&session->replay);
	if (session->copy)
		unlink(session->copy);
	free(session->copy);
	acp_choices_finish(&session->choices);
	config_unref(session->config);
	free(session->cwd);
	free(session->title);
	free(session->skills);
	free(session->failure);
	free(session->failure_info);
}

void acp_session_abandon(struct acp_server *server, const struct acp_request *opening)
{
	struct acp_session *it;
	list_for_each(it, &server->sessions, link) {
		if (it->opening != opening)
			continue;
		acp_fail(steal(it->opening), ACP_CANCELLED, "Request cancelled");
		acp_session_destroy(it);
		return;
	}
}

void acp_session_destroy(struct acp_session *session)
{
	struct acp_prompt *prompt;
	codex_close(steal(session->codex));
	acp_asks_withdraw(&session->server->wire, session, STR_NONE, STR_NONE);
	list_for_each(prompt, &session->prompts, link)
		acp_prompt_end(session, prompt, acp_stop_reason_cancelled);
	if (session->opening)
		acp_fail(steal(session->opening), ACP_INTERNAL_ERROR, "The session was closed before it was open");
	list_remove(&session->link);
	session->server->session_count--;
	free_data(session);
	free(session);
}

/* ---- updates ---- */

void acp_session_update(struct acp_session *session, enum acp_update_tag tag, const void *body)
{
	struct acp_update update = {.tag = tag, .body = (void *)(uintptr_t)body};
	acp_send_update(&session->server->wire, str_of(session->id), &update);
}

void acp_session_say(struct acp_session *session, struct str text, struct str message_id)
{
	struct acp_text part = {text};
	struct acp_block block = {.tag = acp_block_text, .text = &part};
	struct acp_chunk chunk = {&block, message_id};
	acp_session_update(session, acp_update_agent_message_chunk, &chunk);
}

void acp_session_send_title(struct acp_session *session, bool is_changed)
{
	char now[CLOCK_RFC3339_SIZE];
	clock_rfc3339(clock_unix_ms(), now);
	struct acp_title title = {str_of(session->title), is_changed ? str_of(now) : STR_NONE};
	acp_session_update(session, acp_update_session_info_update, &title);
}

void acp_session_set_title(struct acp_session *session, struct str title)
{
	free(session->title);
	session->title = title.len ? str_dup(title) : NULL;
}

struct str acp_title_of(struct str prompt)
{
	struct str line = STR_NONE, rest = str_trim(prompt);
	if (!str_next_line(&rest, &line))
		return STR_NONE;
	line = str_trim(line);
	if (line.len <= LIMIT_ACP_TITLE)
		return line;
	struct str cut = str_n(line.ptr, LIMIT_ACP_TITLE);
	cut.len = text_utf8_prefix(cut);
	ptrdiff_t space = str_rfind_char(cut, ' ');
	return space > 0 ? str_n(cut.ptr, (size_t)space) : cut;
}

void acp_session_view(const struct acp_session *session, struct arena *arena, struct acp_session_result *ret)
{
	ret->modes = acp_mode_state_make(&session->choices, arena);
	ret->config_options = acp_options_make(&session->choices, arena, &ret->config_options_count);
}

/* ---- prompts ---- */

struct acp_prompt *acp_prompt_create(struct acp_session *session, struct acp_request *request)
{
	struct acp_prompt *prompt = xnew(struct acp_prompt);
	if (list_empty(&session->prompts))
		session->is_interrupted = false; /* an earlier interrupt may have found no task */
	prompt->request = request;
	prompt->before = session->usage;
	snprintf(prompt->id, sizeof(prompt->id), "prompt-%llu", (unsigned long long)++session->last_prompt);
	list_append(&session->prompts, &prompt->link);
	session->prompt_count++;
	return prompt;
}

struct acp_prompt *acp_prompt_find(struct acp_session *session, struct str id)
{
	struct acp_prompt *it;
	list_for_each(it, &session->prompts, link) {
		if (str_is(id, it->id))
			return it;
	}
	return NULL;
}

static void prompt_free(struct acp_session *session, struct acp_prompt *prompt)
{
	list_remove(&prompt->link);
	session->prompt_count--;
	free(prompt);
}

/* The tokens since the prompt arrived. Cached input is reported apart from the other input. */
static struct acp_usage usage_since(const struct token_usage *before, const struct token_usage *now)
{
	int64_t cached = now->cached_input_tokens - before->cached_input_tokens;
	return (struct acp_usage){
		.total_tokens = now->total_tokens - before->total_tokens,
		.input_tokens = now->input_tokens - before->input_tokens - cached,
		.cached_read_tokens = cached,
		.output_tokens = now->output_tokens - before->output_tokens,
		.thought_tokens = now->reasoning_output_tokens - before->reasoning_output_tokens,
	};
}

void acp_prompt_end(struct acp_session *session, struct acp_prompt *prompt, enum acp_stop_reason reason)
{
	struct acp_usage usage = usage_since(&prompt->before, &session->usage);
	struct acp_prompt_result result = {reason, usage.total_tokens > 0 ? &usage : NULL};
	if (prompt->request->is_withdrawn)
		acp_fail(prompt->request, ACP_CANCELLED, "Request cancelled");
	else
		acp_reply(prompt->request, &result);
	prompt_free(session, prompt);
}

void acp_prompt_fail(struct acp_session *session, struct acp_prompt *prompt, enum acp_error_code code,
                     struct str message)
{
	if (prompt->request->is_withdrawn)
		acp_fail(prompt->request, ACP_CANCELLED, "Request cancelled");
	else
		acp_fail_data(prompt->request, code, message, NULL, STR_NONE);
	prompt_free(session, prompt);
}

bool acp_session_has_goal(const struct acp_session *session)
{
	struct thread_goal goal;
	return codex_goal(session->codex, &goal) && goal.status == goal_status_active;
}

static void pause_goal(struct acp_session *session)
{
	struct goal_change paused = {.has_status = true, .status = goal_status_paused};
	if (acp_session_has_goal(session))
		best_effort(codex_change_goal(session->codex, &paused, NULL)); /* it exists */
}

void acp_session_cancel(struct acp_session *session)
{
	struct acp_prompt *it;
	struct error err;
	list_for_each(it, &session->prompts, link) {
		it->is_cancelled = true;
		if (it->is_aside)
			acp_prompt_end(session, it, acp_stop_reason_cancelled);
	}
	pause_goal(session);
	if (list_empty(&session->prompts) || session->is_interrupted)
		return;
	session->is_interrupted = true;
	struct op op = {.tag = OP_interrupt};
	if (codex_submit_op(session->codex, STR(""), &op, &err) != 0) {
		session->is_interrupted = false; /* the client may send it again */
		fprintf(stderr, "codex acp: cannot interrupt session %s: %s\n", session->id, err.text);
	}
}

/* ---- tool calls ---- */

struct acp_tool *acp_tool_find(struct acp_session *session, struct str id)
{
	struct acp_tool *it;
	list_for_each(it, &session->tools, link) {
		if (str_is(id, it->id))
			return it;
	}
	return NULL;
}

struct acp_tool *acp_tool_add(struct acp_session *session, struct str id)
{
	struct acp_tool *tool = xnew(struct acp_tool);
	tool->id = str_dup(id);
	buf_init(&tool->text, LIMIT_EXEC_CHUNK * 2);
	list_append(&session->tools, &tool->link);
	return tool;
}

void acp_tool_remove(struct acp_tool *tool)
{
	if (!tool)
		return;
	list_remove(&tool->link);
	buf_finish(&tool->text);
	free(tool->id);
	free(tool);
}
