/* A call is created, started and finished. Finishing only sets a flag and defers, so that a tool that answers at
 * once and one that answers in an hour behave alike for the caller. */
#include "tool/tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "remote/environment.h"
#include "tool/dynamic_tools.h"
#include "tool/tool_impl.h"
#include "tool/tool_limits.h"
#include "tool/tool_text.h"

#define TOOL(name, wire, args, flags) \
	[TOOL_##name] = {wire, &record_##args, flags, &tool_text_##name, tool_##name##_start},
static const struct tool_type tool_types[TOOL_count] = {
#include "tool/tool.def"
};
#undef TOOL

const struct tool_type *tool_find(struct str wire)
{
	for (size_t i = 0; i < TOOL_count; i++) {
		if (str_is(wire, tool_types[i].wire))
			return &tool_types[i];
	}
	return NULL;
}

const struct tool_type *tool_get(enum tool_tag tag)
{
	return &tool_types[tag];
}

static void on_deferred_done(void *self)
{
	struct tool_call *call = self;
	if (call->started_ns && call->host->watch)
		call->host->watch->on_end(call, call->host->watch->self);
	call->on_done(call, call->self);
}

void tool_call_note_decision(const struct tool_call *call, const char *decision, const char *source)
{
	if (call->host->watch)
		call->host->watch->on_decision(call, decision, source, call->host->watch->self);
}

void tool_call_note_allowed(const struct tool_call *call, bool is_known)
{
	tool_call_note_decision(call, is_known ? "approved_for_session" : "approved", is_known ? "User" : "Config");
}

/* The tool wait of scripts takes precedence over that of agents. */
static const struct tool_type *find_known(const struct tool_host *host, struct str name)
{
	for (size_t i = 0; i < TOOL_count; i++) {
		const struct tool_type *type = &tool_types[i];
		bool is_known = (!(type->flags & TOOL_OF_COLLAB) || host->has_collab) &&
		                (!(type->flags & TOOL_OF_TEAM) || host->has_team) &&
		                (!(type->flags & TOOL_OF_AGENTS) || !host->has_team) &&
		                (!(type->flags & TOOL_OF_CODE) || host->code.is_on) &&
		                (!(type->flags & TOOL_OF_CLOCK) || host->code.has_clock);
		if (is_known && str_is(name, type->wire))
			return type;
	}
	return NULL;
}

static const struct tool_type *find_type(const struct tool_host *host, const struct tool_call_words *words)
{
	char joined[LIMIT_TOOL_NAME];
	const struct tool_type *type = find_known(host, words->name);
	if (!words->namespace.ptr)
		return type;
	snprintf(joined, sizeof(joined), "%.*s__%.*s", STR_ARG(words->namespace), STR_ARG(words->name));
	const struct tool_type *of_code = find_known(host, str_of(joined));
	if (of_code && of_code->flags & TOOL_OF_CODE)
		return of_code;
	if (!type)
		return NULL;
	bool is_in = type->flags & TOOL_OF_AGENTS ? str_is(words->namespace, TOOL_AGENTS)
	                                          : type->flags & TOOL_OF_TEAM && str_is(words->namespace, TOOL_TEAM);
	return is_in ? type : NULL;
}

struct tool_call *tool_call_create(struct tool_host *host, const struct tool_call_words *asked, tool_done_fn on_done,
                                   void *self)
{
	struct tool_call_words copy = *asked, *words = &copy;
	if (str_is(copy.namespace, TOOL_FUNCTIONS))
		copy.namespace = STR_NONE;
	struct tool_call *call = xnew(struct tool_call);
	call->host = host;
	call->cwd = arena_cstr(&call->arena, str_of(host->cwd));
	if (host->environment)
		call->environment = environment_ref(host->environment);
	call->turn_id = arena_str(&call->arena, host->turn_id);
	call->call_id = arena_str(&call->arena, words->call_id);
	call->namespace = arena_str(&call->arena, words->namespace);
	call->name = arena_str(&call->arena, words->name);
	call->input = arena_str(&call->arena, words->input);
	call->is_custom = words->is_custom;
	call->is_search = words->is_search;
	call->type = find_type(host, words);
	if (!call->type && !call->is_custom)
		call->dynamic = dynamic_tools_find(host->dynamic, words->namespace, words->name);
	if (!call->type && !call->is_custom && !call->dynamic && host->bind_mcp)
		host->bind_mcp(host, call, words->namespace);
	call->on_done = on_done;
	call->self = self;
	buf_init(&call->output, LIMIT_TOOL_OUTPUT);
	buf_init(&call->recorded, LIMIT_TOOL_OUTPUT);
	buf_init(&call->parts, LIMIT_TOOL_ITEM);
	buf_init(&call->follow_up, LIMIT_TOOL_FOLLOW_UP);
	buf_init(&call->value, LIMIT_TOOL_ITEM);
	loop_deferred_init(&call->done, host->loop, on_deferred_done, call);
	return call;
}

/* Rejects NUL: a word of an argument vector or a path would end there, and the command that runs would differ from the
 * one that the user approved. Patches are checked by their parser. */
static int check_words(const struct record *record, const char *args, struct error *err)
{
	record_for_each(field, record) {
		bool is_list = field->kind == FIELD_strs, is_bad = false;
		const struct str *words = (const void *)(args + field->offset);
		size_t words_count = field->kind == FIELD_str;
		if (is_list) {
			words = *(struct str *const *)(const void *)words;
			words_count = *(const size_t *)(const void *)(args + field->aux);
		}
		for (size_t n = 0; n < words_count; n++)
			is_bad |= str_has_nul(words[n]);
		if (is_bad)
			return error_set(err, ERR_invalid, "%s: a NUL character cannot be passed on",
			                 field_name(record, field));
	}
	return 0;
}

static int read_args(struct tool_call *call, struct error *err)
{
	void *args = arena_alloc(&call->arena, call->type->args->size);
	call->args = args;
	if (call->is_custom) { /* the only argument of a freeform tool is the text itself */
		*(struct str *)args = call->input;
		return 0;
	}
	struct str text = str_trim(call->input).len ? call->input : STR("{}");
	const struct json *json = json_parse(&call->arena, text, err);
	if (!json)
		return -(int)err->code;
	int status = record_decode(call->type->args, json, &call->arena, args, err);
	bool has_words = !(call->type->flags & TOOL_FREEFORM);
	return status == 0 && has_words ? check_words(call->type->args, args, err) : status;
}

static void append_cut(struct buf *out, struct str text)
{
	size_t end = text.len > LIMIT_REFUSAL_TEXT ? text_floor_boundary(text, LIMIT_REFUSAL_TEXT) : text.len;
	buf_append(out, text.ptr, end);
	buf_append_c(out, end < text.len ? " …" : "");
}

void tool_call_report_refusal(const struct tool_call *call, struct str what, struct str reason)
{
	struct tool_host *host = call->host;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	if (!host->reports_refusals)
		return;
	append_cut(&text, what);
	buf_append_c(&text, reason.len ? ": " : "");
	append_cut(&text, reason);
	struct ev_background_event event = {buf_str(&text)};
	host->emit(host, call->turn_id, EV_background_event, &event);
}

void tool_call_emit_item(struct tool_call *call, enum event_tag tag, struct turn_item *item)
{
	struct ev_item_started event = {str_of(call->host->thread_id), call->turn_id, item};
	call->host->emit(call->host, call->turn_id, tag, &event);
}

static void set_place(struct tool_call *call, const struct environment_place *place)
{
	if (call->environment)
		environment_unref(call->environment);
	call->environment = place->environment ? environment_ref(place->environment) : NULL;
	call->cwd = arena_cstr(&call->arena, place->cwd);
}

bool tool_call_choose(struct tool_call *call, struct str id)
{
	const struct tool_host *host = call->host;
	if (!id.ptr || str_eq(id, environment_id(call->environment)))
		return true;
	for (size_t i = 0; i < host->further_count; i++) {
		if (!str_eq(id, environment_id(host->further[i].environment)))
			continue;
		set_place(call, &host->further[i]);
		return true;
	}
	tool_call_finishf(call, false, "unknown turn environment id `%.*s`", STR_ARG(id));
	return false;
}

void tool_call_start(struct tool_call *call)
{
	if (call->host->recheck)
		call->host->recheck(call->host);
	struct error err;
	call->started_ns = clock_now_ns();
	if (call->dynamic)
		tool_dynamic_start(call);
	else if (call->mcp.start)
		call->mcp.start(call);
	else if (!call->type && call->is_custom)
		tool_call_finishf(call, false, "unsupported custom tool call: %.*s", STR_ARG(call->name));
	else if (!call->type || (call->is_custom && !(call->type->flags & TOOL_FREEFORM)))
		tool_call_finishf(call, false, "unsupported call: %.*s%.*s", STR_ARG(call->namespace),
		                  STR_ARG(call->name));
	else if (read_args(call, &err) != 0)
		tool_call_finishf(call, false, "failed to parse %s arguments: %s",
		                  call->type->flags & TOOL_NAMES_ARGUMENTS ? call->type->wire : "function", err.text);
	else
		call->type->start(call);
}

/* Clients order the calls of their own tools. */
bool tool_call_is_parallel(const struct tool_call *call)
{
	if (call->mcp.start)
		return call->mcp.is_parallel;
	return !call->type || (call->type->flags & TOOL_PARALLEL);
}

void tool_call_destroy(struct tool_call *call)
{
	if (!call)
		return;
	if (!call->is_finished && call->stop)
		call->stop(call);
	loop_deferred_finish(&call->done);
	buf_finish(&call->output);
	buf_finish(&call->recorded);
	buf_finish(&call->parts);
	buf_finish(&call->follow_up);
	buf_finish(&call->value);
	if (call->environment)
		environment_unref(call->environment);
	arena_finish(&call->arena);
	free(call);
}

void tool_call_finish_output(struct tool_call *call, bool success)
{
	if (call->is_finished)
		return;
	call->is_finished = true;
	call->is_success = success;
	loop_defer(&call->done);
}

void tool_call_finish(struct tool_call *call, bool success, struct str text)
{
	text_append_utf8_lossy(&call->output, text);
	tool_call_finish_output(call, success);
}

void tool_call_finishf(struct tool_call *call, bool success, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_TOOL_OUTPUT);
	buf_vprintf(&text, format, args);
	va_end(args);
	tool_call_finish(call, success, buf_str(&text));
}

/* The argument records; decoding and the schema for the model are derived from their rows. */
#define RECORD_LAYOUT
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "tool/tool_args.def"
#include "protocol/record/record_undef.h"
#undef RECORD_LAYOUT
#define RECORD_WORDS
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "tool/tool_args.def"
#include "protocol/record/record_undef.h"
#undef RECORD_WORDS
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "tool/tool_args.def"
#include "protocol/record/record_undef.h"
#include "protocol/record/record_rows.h"
#include "protocol/record/record_default.h"
#include "tool/tool_args.def"
#include "protocol/record/record_undef.h"
