/* A tool that only reads needs no approval unless all do. A tool that says nothing about itself counts as one that
 * destroys and reaches beyond this machine; these are the defaults of the protocol. */
#include "tool/mcp/mcp_approval.h"

#include "base/json.h"
#include "base/limits.h"
#include "config/mcp_server.h"
#include "mcp/mcp_catalog.h"
#include "protocol/message/approval.h"
#include "sandbox/sandbox.h"
#include "tool/mcp/mcp_offer.h"
#include "tool/tool.h"

/* Returns the mode of a tool: its own setting, else its server's. */
static enum mcp_approval_mode mode_of(const struct mcp_server *server, struct str tool)
{
	const struct toml *table = toml_find(server->keys.tools, tool), *mode = toml_get(table, "approval_mode");
	int value = 0;
	if (toml_is(mode, TOML_string) && enum_parse(&enum_mcp_approval_mode, mode->text, &value))
		return (enum mcp_approval_mode)value;
	return server->keys.default_tools_approval_mode;
}

static bool asks(enum mcp_approval_mode mode, const struct mcp_tool *tool)
{
	switch (mode) {
	case mcp_approval_mode_approve:
		return false;
	case mcp_approval_mode_prompt:
		return true;
	case mcp_approval_mode_writes:
		return !tool->is_read_only;
	default:
		return !tool->is_read_only && (tool->is_destructive || tool->is_open_world);
	}
}

/* Without approvals and without a sandbox everything runs; with a sandbox, a call that needs approval is refused,
 * because the sandbox does not limit the server. */
bool mcp_approval_is_needed(const struct tool_host *host, const struct mcp_offered *offered, const char **ret_refusal)
{
	bool is_free = host->approval_policy->tag == ask_for_approval_never &&
	               host->sandbox->mode == sandbox_mode_danger_full_access;
	*ret_refusal = NULL;
	if (is_free || !asks(mode_of(offered->server, offered->tool->name), offered->tool))
		return false;
	if (!approval_may_ask(host->approval_policy, QUESTION_mcp))
		*ret_refusal = "MCP tool call requires approval, but approval policy is never";
	else if (host->is_unattended && !host->has_reviewer)
		*ret_refusal = "MCP tool call requires approval, but no user can be asked";
	return true;
}

/* ---- the question ---- */

static void write_display(const struct json *arguments, struct json_writer *w)
{
	jw_key(w, "tool_params_display");
	jw_array(w);
	json_for_each(it, arguments) {
		jw_object(w);
		jw_member_str(w, "name", it->key);
		jw_key(w, "value");
		jw_value(w, it);
		jw_member_str(w, "display_name", it->key);
		jw_object_end(w);
	}
	jw_array_end(w);
}

/* Writes _meta, by which clients recognise the question, and which offers to remember the answer. */
static void write_meta(struct tool_host *host, const struct mcp_offered *offered, const struct json *arguments,
                       struct json_writer *w)
{
	const struct mcp_tool *tool = offered->tool;
	jw_object(w);
	jw_member_cstr(w, "codex_approval_kind", "mcp_tool_call");
	jw_member_raw(w, "persist",
	              host->stores_mcp(host, offered->server->name) ? STR("[\"session\",\"always\"]")
	                                                            : STR("[\"session\"]"));
	jw_member_str(w, "tool_name", tool->name);
	if (tool->title.ptr)
		jw_member_str(w, "tool_title", tool->title);
	if (tool->description.ptr)
		jw_member_str(w, "tool_description", tool->description);
	if (tool->annotations.ptr)
		jw_member_raw(w, "tool_annotations", tool->annotations);
	if (arguments) {
		jw_member_raw(w, "tool_params", arguments->span);
		write_display(arguments, w);
	}
	jw_object_end(w);
}

void mcp_approval_ask(struct tool_call *call, const struct mcp_offered *offered, const struct json *arguments,
                      tool_answer_fn on_answer)
{
	auto_buf struct buf meta = {0}, message = {0}, id = {0};
	buf_init(&meta, LIMIT_MCP_MESSAGE * 2);
	buf_init(&message, LIMIT_MCP_MESSAGE);
	buf_init(&id, LIMIT_CALL_ID * 8);
	struct json_writer w = json_writer(&meta);
	write_meta(call->host, offered, arguments, &w);
	buf_printf(&message, "Allow the %.*s MCP server to run tool \"%.*s\"?", STR_ARG(offered->server->name),
	           STR_ARG(offered->tool->name));
	json_quote(&id, call->call_id);
	struct ev_elicitation_request event = {
		.server_name = offered->server->name,
		.id = buf_str(&id),
		.message = buf_str(&message),
		.turn_id = call->turn_id,
		.mode = STR("form"),
		.requested_schema = STR("{\"type\":\"object\",\"properties\":{}}"),
		._meta = meta.over ? STR_NONE : buf_str(&meta),
	};
	call->mcp.is_approving = true;
	call->host->ask(call->host, call, EV_elicitation_request, &event, on_answer);
	call->mcp.is_approving = false;
}
