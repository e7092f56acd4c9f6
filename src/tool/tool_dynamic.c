/* The client is another program, which may be slow, return invalid content or disconnect: the call ends in every
 * case, and the model gets the reason. A single text becomes the output unchanged; other content becomes a list of
 * parts. */
#include "tool/tool.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "tool/dynamic_tools.h"
#include "tool/tool_impl.h"

/* ---- what the model gets ---- */

static void write_text_part(const struct tool_call *call, struct str text, struct json_writer *w)
{
	auto_buf struct buf cut;
	buf_init(&cut, LIMIT_TOOL_OUTPUT);
	text_append_output(&cut, text, call->host->output_budget);
	jw_object(w);
	jw_member_cstr(w, "type", "input_text");
	jw_member_str(w, "text", buf_str(&cut));
	jw_object_end(w);
}

static void write_image_part(struct str url, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "type", "input_image");
	jw_member_str(w, "image_url", url);
	jw_member_cstr(w, "detail", "high");
	jw_object_end(w);
}

/* Writes a part; false if its type is unknown. */
static bool write_part(const struct tool_call *call, const struct json *item, struct json_writer *w)
{
	struct str type = json_get_str(item, "type");
	struct str text = json_get_str(item, "text"), url = json_get_str(item, "imageUrl");
	if (str_is(type, "inputText") && text.ptr)
		write_text_part(call, text, w);
	else if (str_is(type, "inputImage") && url.ptr)
		write_image_part(url, w);
	else if (str_is(type, "inputAudio"))
		write_text_part(call, STR("(The tool answered with sound, which cannot be passed on.)"), w);
	else
		return false;
	return true;
}

static bool take_items(struct tool_call *call, const struct json *items)
{
	struct str only = json_get_str(json_at(items, 0), "text");
	if (!json_is(items, JSON_array))
		return false;
	if (items->count == 1 && only.ptr && str_is(json_get_str(json_at(items, 0), "type"), "inputText")) {
		text_append_utf8_lossy(&call->output, only);
		return true;
	}
	struct json_writer w = json_writer(&call->parts);
	jw_array(&w);
	json_for_each(it, items) {
		if (!write_part(call, it, &w))
			return false;
	}
	jw_array_end(&w);
	return !call->parts.over;
}

/* ---- the end ---- */

static void emit_end(const struct tool_call *call, struct str items, bool is_success)
{
	uint64_t ns = clock_now_ns() - call->started_ns;
	struct duration duration = {(int64_t)(ns / 1000000000), (int64_t)(ns % 1000000000)};
	struct ev_dynamic_tool_done event = {
		.call_id = call->call_id,
		.turn_id = call->turn_id,
		.namespace = call->dynamic->namespace,
		.tool = call->name,
		.arguments = call->input,
		.content_items = items,
		.success = is_success,
		.duration = &duration,
	};
	call->host->emit(call->host, call->turn_id, EV_dynamic_tool_call_response, &event);
}

static void stop(struct tool_call *call)
{
	loop_timer_destroy(call->state);
	call->state = NULL;
}

static void finish(struct tool_call *call, struct str items, bool is_success)
{
	stop(call);
	emit_end(call, items, is_success);
	tool_call_finish_output(call, is_success);
}

/* Finishes with this text only. */
static void finish_text(struct tool_call *call, struct str text, bool is_success)
{
	auto_buf struct buf items;
	buf_init(&items, LIMIT_TOOL_OUTPUT);
	buf_append_c(&items, "[{\"type\":\"inputText\",\"text\":");
	json_quote(&items, text);
	buf_append_c(&items, "}]");
	buf_clear(&call->parts);
	buf_clear(&call->output);
	text_append_utf8_lossy(&call->output, text);
	finish(call, items.over ? STR("[]") : buf_str(&items), is_success);
}

static void on_timeout(void *self)
{
	struct tool_call *call = self;
	auto_buf struct buf text;
	buf_init(&text, 1 * KIB);
	buf_printf(&text,
	           "The program that provides `%.*s` has not answered for %d minutes; the call was given up. Whether "
	           "it had an effect is not known.",
	           STR_ARG(call->name), LIMIT_DYNAMIC_CALL_MS / 60000);
	call->host->unask(call->host, call);
	finish_text(call, buf_str(&text), false);
}

static void on_answer(struct tool_call *call, const void *body)
{
	auto_arena struct arena arena = {0};
	const struct dynamic_tool_answer *answer = body;
	if (!answer->content_items.ptr) {
		finish_text(call, answer->output, answer->success);
		return;
	}
	const struct json *items = json_parse(&arena, answer->content_items, NULL);
	if (take_items(call, items))
		finish(call, items->span, answer->success);
	else
		finish_text(call, STR("dynamic tool response was invalid"), false);
}

/* ---- the beginning ---- */

void tool_dynamic_start(struct tool_call *call)
{
	struct error err;
	struct str text = str_trim(call->input).len ? call->input : STR("{}");
	const struct json *arguments = json_parse(&call->arena, text, &err);
	if (!arguments) {
		tool_call_finishf(call, false, "failed to parse function arguments: %s", err.text);
		return;
	}
	call->input = arguments->span;
	call->state = loop_timer_create(call->host->loop, on_timeout, call);
	call->stop = stop;
	loop_timer_start(call->state, LIMIT_DYNAMIC_CALL_MS);
	struct ev_dynamic_tool_call event = {
		.callId = call->call_id,
		.turnId = call->turn_id,
		.namespace = call->dynamic->namespace,
		.tool = call->name,
		.arguments = call->input,
	};
	call->host->ask(call->host, call, EV_dynamic_tool_call_request, &event, on_answer);
}
