/* A long session sends megabytes of history with each tool call. Only the few hundred bytes around it are written here;
 * the history is sent from the caller's buffer without a copy.
 * The order of keys is that of codex 0.169, because prompt caches compare bytes. */
#include "model/model_request.h"

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "model/model_catalog.h"

static void write_reasoning(struct json_writer *w, const struct model_prompt *prompt)
{
	enum reasoning_effort effort = prompt->effort ? prompt->effort : prompt->info->default_effort;
	bool has_summary = prompt->info->has_reasoning && prompt->summary != reasoning_summary_none;
	if (effort == reasoning_effort_unset && !has_summary)
		return;
	jw_key(w, "reasoning");
	jw_object(w);
	if (effort != reasoning_effort_unset)
		jw_member_cstr(w, "effort", enum_wire(&enum_reasoning_effort, effort));
	if (has_summary)
		jw_member_cstr(w, "summary", enum_wire(&enum_reasoning_summary, prompt->summary));
	jw_object_end(w);
}

static void write_format(struct json_writer *w, struct str schema)
{
	jw_key(w, "format");
	jw_object(w);
	jw_member_cstr(w, "type", "json_schema");
	jw_member_bool(w, "strict", true);
	jw_member_raw(w, "schema", schema);
	jw_member_cstr(w, "name", "codex_output_schema");
	jw_object_end(w);
}

static void write_text(struct json_writer *w, const struct model_prompt *prompt)
{
	enum verbosity verbosity = prompt->verbosity ? prompt->verbosity : prompt->info->default_verbosity;
	bool has_verbosity = prompt->info->has_verbosity && verbosity != verbosity_unset;
	if (!has_verbosity && !prompt->output_schema.len)
		return;
	jw_key(w, "text");
	jw_object(w);
	if (has_verbosity)
		jw_member_cstr(w, "verbosity", enum_wire(&enum_verbosity, verbosity));
	if (prompt->output_schema.len)
		write_format(w, prompt->output_schema);
	jw_object_end(w);
}

static void write_include(struct json_writer *w, const struct model_prompt *prompt)
{
	jw_key(w, "include");
	jw_array(w);
	if (prompt->info->has_reasoning || prompt->effort != reasoning_effort_unset)
		jw_cstr(w, "reasoning.encrypted_content");
	jw_array_end(w);
}

/* `{"model":…,"instructions":…,"input":[` */
static void write_head(struct buf *out, const struct model_prompt *prompt)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "model", prompt->info->slug);
	if (prompt->instructions.ptr)
		jw_member_str(&w, "instructions", prompt->instructions);
	jw_key(&w, "input");
	jw_array(&w);
}

/* The members after the tools. */
static void write_tail(struct buf *out, const struct model_prompt *prompt)
{
	struct json_writer w = json_writer(out);
	w.comma = true;
	jw_member_cstr(&w, "tool_choice", "auto");
	jw_member_bool(&w, "parallel_tool_calls", prompt->info->has_parallel_calls && !prompt->is_serial);
	write_reasoning(&w, prompt);
	jw_member_bool(&w, "store", prompt->is_stored);
	jw_member_bool(&w, "stream", true);
	write_include(&w, prompt);
	jw_member_str(&w, "prompt_cache_key", prompt->thread_id);
	write_text(&w, prompt);
	if (prompt->previous_response_id.len)
		jw_member_str(&w, "previous_response_id", prompt->previous_response_id);
	jw_object_end(&w);
}

static void add_input(struct model_request *request, const struct model_prompt *prompt)
{
	bool is_first = true;
	for (size_t i = 0; i < prompt->input_count; i++) {
		if (!prompt->input[i].len)
			continue;
		if (!is_first)
			vec_push(&request->body, STR(","));
		vec_push(&request->body, prompt->input[i]);
		is_first = false;
	}
}

void model_request_add_header(struct model_request *request, const char *name, struct str value)
{
	const char *line = arena_printf(&request->arena, "%s: %.*s", name, STR_ARG(value));
	vec_push(&request->headers, str_of(line));
}

/* The ids are sent under the old and the new header names, because gateways route and log by them. The session id of a
 * subagent is that of its root. */
static void add_ids(struct model_request *request, const struct model_prompt *prompt)
{
	struct str session_id = prompt->root_thread_id.len ? prompt->root_thread_id : prompt->thread_id;
	if (!prompt->thread_id.len)
		return;
	model_request_add_header(request, "session_id", session_id);
	model_request_add_header(request, "session-id", session_id);
	model_request_add_header(request, "thread-id", prompt->thread_id);
	model_request_add_header(request, "x-client-request-id", prompt->thread_id);
	if (prompt->parent_thread_id.len)
		model_request_add_header(request, "x-codex-parent-thread-id", prompt->parent_thread_id);
}

static void add_headers(struct model_request *request, const struct model_prompt *prompt)
{
	model_request_add_header(request, "accept", STR("text/event-stream"));
	model_request_add_header(request, "content-type", STR("application/json"));
	add_ids(request, prompt);
	if (prompt->turn_state.len)
		model_request_add_header(request, "x-codex-turn-state", prompt->turn_state);
	if (prompt->subagent.len)
		model_request_add_header(request, "x-openai-subagent", prompt->subagent);
}

int model_request_init(struct model_request *request, const struct model_prompt *prompt, struct error *err)
{
	*request = (struct model_request){0};
	buf_init(&request->head, LIMIT_REQUEST_FRAME);
	buf_init(&request->tail, LIMIT_REQUEST_FRAME);
	write_head(&request->head, prompt);
	write_tail(&request->tail, prompt);
	if (request->head.over || request->tail.over)
		return error_set(err, ERR_limit, "instructions or output schema are longer than %d MiB; shorten them",
		                 LIMIT_REQUEST_FRAME / MIB);
	vec_push(&request->body, buf_str(&request->head));
	add_input(request, prompt);
	vec_push(&request->body, STR("],\"tools\":"));
	vec_push(&request->body, prompt->tools.len ? prompt->tools : STR("[]"));
	vec_push(&request->body, buf_str(&request->tail));
	add_headers(request, prompt);
	return 0;
}

void model_request_finish(struct model_request *request)
{
	vec_finish(&request->body);
	vec_finish(&request->headers);
	buf_finish(&request->head);
	buf_finish(&request->tail);
	arena_finish(&request->arena);
}
