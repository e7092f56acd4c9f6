/* The newest entries are chosen first, then written in their order. */
#include "engine/session/guardian_request.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "command/shell.h"
#include "config/config.h"
#include "config/config_required.h"
#include "engine/history/history_item.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "model/prompt.h"
#include "rollout/rollout_item.h"
#include "tool/tool.h"

/* ---- the action ---- */

static struct guardian_action_command *command_of(const struct tool_call *call, const struct ev_exec_approval *event,
                                                  struct arena *arena)
{
	struct guardian_action_command *ret = arena_new(arena, struct guardian_action_command);
	auto_buf struct buf line = {0};
	const char **argv = arena_array(arena, const char *, event->command_count + 1);
	for (size_t i = 0; i < event->command_count; i++)
		argv[i] = arena_cstr(arena, event->command[i]);
	buf_init(&line, LIMIT_LINE);
	shell_join(&line, argv);
	ret->command = arena_str(arena, buf_str(&line));
	ret->cwd = arena_str(arena, event->cwd);
	ret->source = call->type == tool_get(TOOL_exec_command) || call->type == tool_get(TOOL_write_stdin)
	                      ? guardian_source_unified_exec
	                      : guardian_source_shell;
	return ret;
}

static struct guardian_action_patch *patch_of(const struct tool_call *call, const struct ev_patch_approval *event,
                                              struct arena *arena)
{
	struct guardian_action_patch *ret = arena_new(arena, struct guardian_action_patch);
	ret->cwd = arena_str(arena, str_of(call->cwd));
	ret->files = arena_array(arena, struct str, event->changes_count);
	ret->files_count = event->changes_count;
	for (size_t i = 0; i < event->changes_count; i++)
		ret->files[i] = arena_str(arena, event->changes_keys[i]);
	return ret;
}

static struct guardian_action_mcp *mcp_of(const struct ev_elicitation_request *event, struct arena *arena)
{
	struct guardian_action_mcp *ret = arena_new(arena, struct guardian_action_mcp);
	const struct json *meta = event->_meta.ptr ? json_parse_copy(arena, event->_meta, NULL) : NULL;
	ret->server = arena_str(arena, event->server_name);
	ret->tool_name = json_get_str(meta, "tool_name");
	ret->tool_title = json_get_str(meta, "tool_title");
	return ret;
}

bool guardian_action_of(const struct tool_call *call, enum event_tag tag, const void *body, struct arena *arena,
                        struct guardian_action *ret)
{
	*ret = (struct guardian_action){0};
	if (tag == EV_exec_approval_request) {
		ret->tag = guardian_action_command;
		ret->command = command_of(call, body, arena);
	} else if (tag == EV_apply_patch_approval_request) {
		ret->tag = guardian_action_apply_patch;
		ret->apply_patch = patch_of(call, body, arena);
	} else if (tag == EV_elicitation_request && call->mcp.is_approving) {
		ret->tag = guardian_action_mcp_tool_call;
		ret->mcp_tool_call = mcp_of(body, arena);
	} else {
		return false;
	}
	return true;
}

void guardian_write_action(struct str name, struct str input, enum event_tag tag, const void *body,
                           struct json_writer *w)
{
	jw_object(w);
	jw_member_str(w, "tool", name);
	jw_member_str(w, "arguments", input);
	jw_key(w, "request");
	if (tag == EV_exec_approval_request)
		record_encode(&record_ev_exec_approval, body, w);
	else if (tag == EV_apply_patch_approval_request)
		record_encode(&record_ev_patch_approval, body, w);
	else if (tag == EV_elicitation_request)
		record_encode(&record_ev_elicitation_request, body, w);
	else
		jw_null(w);
	jw_object_end(w);
}

/* ---- the history ---- */

enum entry_kind { ENTRY_none, ENTRY_user, ENTRY_other };

struct entries {
	const struct context *context;
	bool has_user;      /* the messages of role user are the user's: the session is no subagent */
	VEC(size_t) chosen; /* positions, from the newest to the oldest */
	size_t left[ENTRY_other + 1], count[ENTRY_other + 1];
	size_t omitted[ENTRY_other + 1];
};

/* Shortens a text in its middle. */
static void write_cut(struct json_writer *w, struct str text, size_t max)
{
	auto_buf struct buf cut = {0};
	if (text.len <= max) {
		jw_str(w, text);
		return;
	}
	size_t head = text_floor_boundary(text, max / 2), tail = text_floor_boundary(text, text.len - max / 2);
	buf_init(&cut, max + KIB);
	buf_append_str(&cut, str_n(text.ptr, head));
	buf_printf(&cut, " [… %zu bytes omitted …] ", tail - head);
	buf_append_str(&cut, str_skip(text, tail));
	jw_str(w, buf_str(&cut));
}

static struct str content_of(const struct json *item, struct buf *spare)
{
	const struct json *output = json_get(item, "output");
	if (output)
		return json_is(output, JSON_string) ? output->text : output->span;
	return response_item_text(spare, item);
}

/* Returns the user's words of a message of role user: what programs have attached to it comes after them. */
static struct str words_of(struct str text)
{
	static const char *const attached[] = {"<stdin>", "<context ref="};
	for (size_t i = 0; i < countof(attached); i++) {
		ptrdiff_t at = str_find(text, str_of(attached[i]));
		text.len = at >= 0 ? (size_t)at : text.len;
	}
	return str_trim(text);
}

/* True for a message of role user that the engine writes: the report of a review, the words of a hook. */
static bool is_reported(struct str text)
{
	static const char *const prefixes[] = {"<user_action>", "<hook_prompt"};
	for (size_t i = 0; i < countof(prefixes); i++) {
		if (str_has_prefix(text, prefixes[i]))
			return true;
	}
	return false;
}

/* text: of the item. An image has no text, be it the user's or a tool's. */
static enum entry_kind kind_of(const struct json *item, struct str text)
{
	if (rollout_item_call(item) != ROLLOUT_NO_CALL)
		return ENTRY_other;
	if (!str_is(json_get_str(item, "type"), "message") || rollout_item_is_context(item) || !str_trim(text).len)
		return ENTRY_none;
	return rollout_item_is_user_message(item) && !is_reported(str_trim(text)) ? ENTRY_user : ENTRY_other;
}

/* Chooses an entry if its share of the space has room for it. */
static void choose(struct entries *entries, size_t at, enum entry_kind kind, size_t size)
{
	size_t most = kind == ENTRY_user ? LIMIT_GUARDIAN_MESSAGE : LIMIT_GUARDIAN_ENTRY;
	size_t cost = size < most ? size : most;
	if (cost > entries->left[kind] || entries->count[kind] >= LIMIT_GUARDIAN_ENTRIES) {
		entries->left[kind] = 0; /* what follows is older */
		entries->omitted[kind]++;
		return;
	}
	entries->left[kind] -= cost;
	entries->count[kind]++;
	vec_push(&entries->chosen, at);
}

static void choose_entry(struct entries *entries, size_t at, struct arena *arena)
{
	auto_buf struct buf spare = {0};
	const struct json *item = json_parse(arena, context_item_text(entries->context, at), NULL);
	buf_init(&spare, LIMIT_SSE_EVENT);
	struct str text = rollout_item_call(item) == ROLLOUT_CALL ? item->span : content_of(item, &spare);
	enum entry_kind kind = kind_of(item, text);
	if (kind != ENTRY_none)
		choose(entries, at, kind, text.len);
}

/* Once the other entries have no room, only those that may be the user's are parsed; without room for both, none. */
static void choose_entries(struct entries *entries)
{
	auto_arena struct arena arena = {0};
	for (size_t i = entries->context->items.count; i > 0; i--) {
		struct str text = context_item_text(entries->context, i - 1);
		bool has_room = entries->left[ENTRY_other] || entries->left[ENTRY_user];
		if (!has_room || (!entries->left[ENTRY_other] && str_find(text, STR("\"user\"")) < 0)) {
			entries->omitted[ENTRY_other] += has_room ? 1 : i;
			if (!has_room)
				return;
			continue;
		}
		arena_reset(&arena);
		choose_entry(entries, i - 1, &arena);
	}
}

static void write_entry(const struct entries *entries, const struct json *item, struct json_writer *w)
{
	auto_buf struct buf spare = {0};
	buf_init(&spare, LIMIT_SSE_EVENT);
	jw_object(w);
	if (rollout_item_call(item) == ROLLOUT_CALL) {
		struct str input = json_get_str(item, "arguments");
		jw_member_str(w, "call", json_get_str(item, "name"));
		jw_key(w, "arguments");
		write_cut(w, input.ptr ? input : json_get_str(item, "input"), LIMIT_GUARDIAN_ENTRY);
	} else {
		struct str text = content_of(item, &spare);
		bool is_user = kind_of(item, text) == ENTRY_user;
		bool is_output = rollout_item_call(item) == ROLLOUT_CALL_OUTPUT;
		struct str words = is_user ? words_of(text) : text;
		jw_key(w, is_output ? "output" : !is_user ? "agent" : entries->has_user ? "user" : "parent_agent");
		write_cut(w, words, is_user ? LIMIT_GUARDIAN_MESSAGE : LIMIT_GUARDIAN_ENTRY);
		if (words.len < str_trim(text).len && is_user) {
			jw_key(w, "attached");
			write_cut(w, str_trim(str_skip(str_trim(text), words.len)), LIMIT_GUARDIAN_ENTRY);
		}
	}
	jw_object_end(w);
}

static void write_history(const struct session *session, struct json_writer *w)
{
	auto_arena struct arena arena = {0};
	struct entries entries = {
		.context = &session->conversation.context,
		.has_user = !session_kin(session).parent_id.len,
		.left = {[ENTRY_user] = LIMIT_GUARDIAN_SHARE, [ENTRY_other] = LIMIT_GUARDIAN_SHARE},
	};
	choose_entries(&entries);
	jw_key(w, "history");
	jw_array(w);
	for (size_t i = entries.chosen.count; i > 0; i--) {
		arena_reset(&arena);
		struct str text = context_item_text(entries.context, entries.chosen.items[i - 1]);
		write_entry(&entries, json_parse(&arena, text, NULL), w);
	}
	jw_array_end(w);
	jw_member_i64(w, "omitted_user_messages", (int64_t)entries.omitted[ENTRY_user]);
	jw_member_i64(w, "omitted_entries", (int64_t)entries.omitted[ENTRY_other]);
	vec_finish(&entries.chosen);
}

/* ---- the request ---- */

static void write_fence(const struct settings *settings, struct json_writer *w)
{
	const struct sandbox_policy *policy = &settings->sandbox_policy;
	jw_member_cstr(w, "folder", settings->cwd);
	jw_member_cstr(w, "sandbox", enum_wire(&enum_sandbox_mode, (int)policy->mode));
	jw_member_bool(w, "sandbox_has_network", policy->network_access);
	jw_key(w, "writable_folders");
	jw_array(w);
	for (size_t i = 0; i < policy->writable_root_count; i++)
		jw_cstr(w, policy->writable_roots[i]);
	jw_array_end(w);
}

void guardian_write_item(const struct session *session, const struct settings *settings, struct str action,
                         struct str approved, struct buf *out)
{
	auto_buf struct buf text = {0};
	buf_init(&text, LIMIT_GUARDIAN_REQUEST);
	struct json_writer w = json_writer(&text);
	jw_object(&w);
	write_history(session, &w);
	write_fence(settings, &w);
	jw_key(&w, "actions_approved_by_user");
	jw_array(&w);
	if (approved.len)
		jw_raw(&w, approved);
	jw_array_end(&w);
	jw_member_raw(&w, "action", action);
	jw_object_end(&w);
	out->over |= text.over;
	if (!text.over)
		text_message_write(out, "user", buf_str(&text));
}

void guardian_write_instructions(const struct session *session, struct buf *out)
{
	const struct config *config = session->env->config;
	const struct config_required *required = config_required(config);
	const char *policy = required && required->keys.guardian_policy_config ? required->keys.guardian_policy_config
	                                                                       : config->auto_review.policy;
	buf_append_str(out, str_trim(prompt_guardian));
	buf_append_c(out, "\n\n# Policy\n\n");
	buf_append_str(out, policy ? str_of(policy) : str_trim(prompt_guardian_policy));
	if (required && required->keys.guardian_extra_policy)
		buf_printf(out, "\n\n%s", required->keys.guardian_extra_policy);
}
