/* request_permissions: the model asks for folders to write to, or for the network, in advance of the commands that need
 * them. The question is an elicitation, which every front end can show; one without a server's name is the session's
 * own. Only what the user grants of what was asked for counts. All sandboxes permit reading, so requests to read are
 * granted without a question. */
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/message/approval.h"
#include "remote/environment.h"
#include "sandbox/sandbox.h"
#include "tool/tool.h"
#include "tool/tool_impl.h"

/* Permissions that are asked for, or granted: folders, absolute and, on this machine, without links, and the network.
 */
struct permissions {
	struct str *roots;
	size_t count;
	bool network;
};

static int read_root(struct tool_call *call, struct str path, struct str *ret, struct error *err)
{
	for (size_t i = 0; i < path.len; i++)
		if ((unsigned char)path.ptr[i] < ' ')
			return error_set(err, ERR_invalid, "a path contains a control character");
	auto_free char *name = str_dup(path);
	auto_free char *joined = path_join(call->cwd, name);
	if (call->environment) { /* its folders are not known here */
		auto_free char *plain = path_normalize(joined);
		*ret = arena_str(&call->arena, str_of(plain));
		return 0;
	}
	auto_free char *real = realpath(joined, NULL);
	if (!real || !dir_exists(real))
		return error_set(err, ERR_invalid, "%s is not a folder that exists", joined);
	const char *home = call->host->sandbox->home;
	if (home && path_is_inside(real, home))
		return error_set(err, ERR_denied, "%s holds the settings of codex, which commands may not change",
		                 real);
	*ret = arena_str(&call->arena, str_of(real));
	return 0;
}

static int read_args(struct tool_call *call, struct permissions *ret, struct error *err)
{
	const struct args_request_permissions *args = call->args;
	const struct args_file_permissions *files = args->permissions->file_system;
	const struct args_network_permissions *network = args->permissions->network;
	size_t count = files ? files->write_count : 0;
	if (args->reason.len > LIMIT_GRANT_REASON)
		return error_set(err, ERR_limit, "the reason may have at most %d bytes", LIMIT_GRANT_REASON);
	*ret = (struct permissions){.network = network && network->enabled};
	if (count > LIMIT_GRANTED_ROOTS)
		return error_set(err, ERR_limit, "at most %d folders can be asked for at a time", LIMIT_GRANTED_ROOTS);
	ret->roots = arena_array(&call->arena, struct str, count + 1);
	for (; ret->count < count; ret->count++)
		if (read_root(call, files->write[ret->count], &ret->roots[ret->count], err) != 0)
			return -(int)err->code;
	return 0;
}

static void write_permissions(const struct permissions *permissions, const struct str *read, size_t read_count,
                              struct json_writer *w)
{
	jw_object(w);
	if (permissions->count || read_count) {
		jw_key(w, "file_system");
		jw_object(w);
		jw_key(w, "read");
		jw_array(w);
		for (size_t i = 0; i < read_count; i++)
			jw_str(w, read[i]);
		jw_array_end(w);
		jw_key(w, "write");
		jw_array(w);
		for (size_t i = 0; i < permissions->count; i++)
			jw_str(w, permissions->roots[i]);
		jw_array_end(w);
		jw_object_end(w);
	}
	if (permissions->network)
		jw_member_raw(w, "network", STR("{\"enabled\":true}"));
	jw_object_end(w);
}

/* Ends the call with {"permissions":…,"scope":…}. */
static void finish(struct tool_call *call, const struct permissions *granted, bool for_session)
{
	const struct args_request_permissions *args = call->args;
	const struct args_file_permissions *files = args->permissions->file_system;
	struct json_writer w = json_writer(&call->output);
	jw_object(&w);
	jw_key(&w, "permissions");
	write_permissions(granted, files ? files->read : NULL, files ? files->read_count : 0, &w);
	jw_member_cstr(&w, "scope", for_session ? "session" : "turn");
	jw_object_end(&w);
	tool_call_finish_output(call, true);
}

/* ---- the answer ---- */

static bool has_root(const struct json *roots, struct str root)
{
	struct str text;
	json_for_each(it, roots)
		if (json_to_str(it, &text) && str_eq(text, root))
			return true;
	return false;
}

/* Reduces what was asked for to what the answer names; an answer without permissions grants all. */
static void reduce(struct permissions *asked, const struct json *content)
{
	const struct json *given = json_get(content, "permissions");
	size_t kept = 0;
	if (!given)
		return;
	asked->network &= json_get_bool(json_get(given, "network"), "enabled", false);
	for (size_t i = 0; i < asked->count; i++)
		if (has_root(json_get(json_get(given, "file_system"), "write"), asked->roots[i]))
			asked->roots[kept++] = asked->roots[i];
	asked->count = kept;
}

static void on_answer(struct tool_call *call, const void *body)
{
	const struct op_resolve_elicitation *answer = body;
	struct permissions *asked = call->state, none = {0};
	struct error err;
	const struct json *content = answer->content.ptr ? json_parse(&call->arena, answer->content, NULL) : NULL;
	const struct json *meta = answer->_meta.ptr ? json_parse(&call->arena, answer->_meta, NULL) : NULL;
	bool for_session = str_is(json_get_str(meta, "persist"), "session");
	call->state = NULL;
	bool is_unreadable = answer->content.ptr && !json_is(content, JSON_object);
	bool is_late = !for_session && !str_eq(call->turn_id, call->host->turn_id); /* a script outlives its turn */
	if (answer->decision != elicitation_action_accept || is_unreadable || is_late) {
		finish(call, &none, false);
		return;
	}
	reduce(asked, content);
	const struct tool_grant grant = {call->environment, asked->roots, asked->count, asked->network, for_session};
	if (call->host->grant(call->host, &grant, &err) != 0)
		tool_call_finishf(call, false, "%s", err.text);
	else
		finish(call, asked, for_session);
}

/* ---- the question ---- */

static void write_words(const struct tool_call *call, const struct permissions *asked, struct str reason,
                        struct buf *out)
{
	buf_append_c(out, "Allow commands");
	if (call->environment)
		buf_printf(out, " in the environment `%.*s`", STR_ARG(call->environment->id));
	for (size_t i = 0; i < asked->count; i++)
		buf_printf(out, "%s%.*s", i ? ", " : " to write to ", STR_ARG(asked->roots[i]));
	buf_printf(out, "%s until the end of this turn?",
	           !asked->network ? ""
	           : asked->count  ? ", and to use the network,"
	                           : " to use the network");
	if (reason.len)
		buf_printf(out, " The model's reason: %.*s", STR_ARG(reason));
}

static void write_meta(const struct tool_call *call, const struct permissions *asked, struct buf *out)
{
	const struct args_request_permissions *args = call->args;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "codex_approval_kind", "request_permissions");
	jw_member_raw(&w, "persist", STR("[\"session\"]"));
	jw_member_cstr(&w, "cwd", call->cwd);
	jw_member_str(&w, "environment_id", environment_id(call->environment));
	jw_member_str(&w, "reason", args->reason);
	jw_key(&w, "permissions");
	write_permissions(asked, NULL, 0, &w);
	jw_object_end(&w);
}

static void ask(struct tool_call *call, struct permissions *asked)
{
	const struct args_request_permissions *args = call->args;
	auto_buf struct buf meta, message, id;
	buf_init(&meta, LIMIT_LINE);
	buf_init(&message, LIMIT_LINE);
	buf_init(&id, LIMIT_CALL_ID * 8);
	write_meta(call, asked, &meta);
	write_words(call, asked, args->reason, &message);
	json_quote(&id, call->call_id);
	struct ev_elicitation_request event = {
		.server_name = STR(""),
		.id = buf_str(&id),
		.message = buf_str(&message),
		.turn_id = call->turn_id,
		.mode = STR("form"),
		.requested_schema = STR("{\"type\":\"object\",\"properties\":{}}"),
		._meta = buf_str(&meta),
	};
	call->state = asked;
	call->host->ask(call->host, call, EV_elicitation_request, &event, on_answer);
}

void tool_request_permissions_start(struct tool_call *call)
{
	const struct tool_host *host = call->host;
	const struct args_request_permissions *args = call->args;
	struct error err;
	if (!tool_call_choose(call, args->environment_id))
		return;
	struct permissions none = {0}, *asked = arena_new(&call->arena, struct permissions);
	if (read_args(call, asked, &err) != 0)
		tool_call_finishf(call, false, "%s", err.text);
	else if (!sandbox_is_needed(host->sandbox->mode) || (!asked->count && !asked->network))
		finish(call, asked, false); /* nothing is limited, or nothing is asked for */
	else if (host->is_unattended || !approval_may_ask(host->approval_policy, QUESTION_permissions))
		finish(call, &none, false);
	else
		ask(call, asked);
}
