/* A record has of a call what the model, or its script, has: the names by which it called the tool, and the output
 * before hooks replace it. Images are left out, and answers that the user has marked as secret. */
#include "engine/codex/codex_telemetry.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/mcp_server.h"
#include "engine/codex/codex_data.h"
#include "telemetry/telemetry.h"
#include "tool/mcp/mcp_offer.h"
#include "tool/tool.h"

/* ---- the content of a record ---- */

static struct telemetry_call call_of(const struct tool_call *call)
{
	const struct mcp_offered *offered = call->mcp.start ? call->mcp.offered : NULL;
	return (struct telemetry_call){
		.name = offered ? offered->name : call->name,
		.namespace = offered ? offered->namespace : call->namespace,
		.call_id = call->call_id,
		.server = offered ? offered->server->name : STR_NONE,
	};
}

static void write_parts(struct str parts, struct buf *out)
{
	auto_arena struct arena arena = {0};
	json_for_each(part, json_parse(&arena, parts, NULL)) {
		struct str text = json_get_str(part, "text"), image = json_get_str(part, "image_url");
		buf_append_c(out, out->len ? "\n" : "");
		if (text.ptr)
			buf_append_str(out, text);
		else
			buf_printf(out, "<image data URL omitted: %zu bytes>", image.len);
	}
}

static struct str output_of(const struct tool_call *call, struct buf *texts)
{
	if (call->recorded.len)
		return buf_str(&call->recorded);
	if (!call->parts.len)
		return buf_str(call->output.len ? &call->output : &call->value);
	if (call->is_search)
		return buf_str(&call->parts);
	write_parts(buf_str(&call->parts), texts);
	return buf_str(texts);
}

/* ---- the watch ---- */

static void on_decision(const struct tool_call *call, const char *decision, const char *source, void *self)
{
	struct telemetry_call it = call_of(call);
	telemetry_decision(self, &it, str_of(decision), source);
}

static void on_end(const struct tool_call *call, void *self)
{
	auto_buf struct buf texts;
	struct telemetry_call it = call_of(call);
	buf_init(&texts, LIMIT_TOOL_ITEM);
	it.duration_ms = (clock_now_ns() - call->started_ns) / 1000000;
	it.is_success = call->is_success;
	it.arguments = call->input;
	if (telemetry_has_texts(self))
		it.output = output_of(call, &texts);
	telemetry_result(self, &it);
}

void codex_open_telemetry(struct codex *codex)
{
	struct session_env *env = &codex->env;
	codex->telemetry = telemetry_create(env->config, env->http, env->originator);
	env->watch = telemetry_watcher(codex->telemetry);
	if (!codex->telemetry)
		return;
	codex->calls = (struct tool_watch){on_decision, on_end, codex->telemetry};
	env->calls = &codex->calls;
}
