/* The engine's items have nearly the same form as those on the wire. Stored and loaded threads share these
 * functions, so that a client sees the same items in both. */
#include "app_server/history/item_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "command/shell.h"

/* ---- every kind ---- */

static const struct record *body_of(const struct app_thread_item *item)
{
	return union_find_tag(&union_app_thread_item, (int)item->tag)->body;
}

struct str item_view_id(const struct app_thread_item *item)
{
	const struct field *field = record_find_field(body_of(item), "id");
	return *(const struct str *)(const void *)((const char *)item->body + field->offset);
}

int64_t item_view_time(const struct app_thread_item *item, const char *name)
{
	const struct field *field = record_find_field(body_of(item), name);
	return *(const int64_t *)(const void *)((const char *)item->body + field->offset);
}

static void set_time(struct app_thread_item *item, const char *name, int64_t ms)
{
	const struct field *field = record_find_field(body_of(item), name);
	*(int64_t *)(void *)((char *)item->body + field->offset) = ms;
	*(bool *)((char *)item->body + field->aux - 1) = true;
}

void item_view_set_times(struct app_thread_item *item, int64_t started_at_ms, int64_t completed_at_ms)
{
	if (started_at_ms)
		set_time(item, "started_at_ms", started_at_ms);
	if (completed_at_ms)
		set_time(item, "completed_at_ms", completed_at_ms);
}

/* ---- user input ---- */

static void copy_elements(struct app_input_text *to, const struct input_text *from, struct arena *arena)
{
	to->text__elements_count = from->text_elements_count;
	to->text__elements = arena_array(arena, struct app_text_element, from->text_elements_count);
	for (size_t i = 0; i < from->text_elements_count; i++) {
		struct app_byte_range *range = arena_new(arena, struct app_byte_range);
		*range = (struct app_byte_range){from->text_elements[i].byte_range->start,
		                                 from->text_elements[i].byte_range->end};
		to->text__elements[i] = (struct app_text_element){range, from->text_elements[i].placeholder};
	}
}

static struct app_user_input input_of(const struct user_input *from, struct arena *arena)
{
	struct app_user_input to = {0};
	switch (from->tag) {
	case user_input_image:
		to.tag = app_user_input_image;
		to.image = arena_new(arena, struct app_input_image);
		to.image->url = from->image->image_url;
		break;
	case user_input_local_image:
		to.tag = app_user_input_local_image;
		to.local_image = arena_new(arena, struct app_input_local_image);
		to.local_image->path = from->local_image->path;
		break;
	case user_input_skill:
		to.tag = app_user_input_skill;
		to.skill = arena_new(arena, struct app_input_named);
		*to.skill = (struct app_input_named){from->skill->name, from->skill->path};
		break;
	case user_input_mention:
		to.tag = app_user_input_mention;
		to.mention = arena_new(arena, struct app_input_named);
		*to.mention = (struct app_input_named){from->mention->name, from->mention->path};
		break;
	default:
		to.tag = app_user_input_text;
		to.text = arena_new(arena, struct app_input_text);
		to.text->text = from->text->text;
		copy_elements(to.text, from->text, arena);
	}
	return to;
}

static struct app_thread_item user_message(const struct user_message_item *from, struct arena *arena)
{
	struct app_item_user_message *to = arena_new(arena, struct app_item_user_message);
	to->id = from->id;
	to->client_id = from->client_id;
	to->content_count = from->content_count;
	to->content = arena_array(arena, struct app_user_input, from->content_count);
	for (size_t i = 0; i < from->content_count; i++)
		to->content[i] = input_of(&from->content[i], arena);
	return (struct app_thread_item){.tag = app_thread_item_user_message, .user_message = to};
}

/* ---- messages, reasoning, searches ---- */

static struct str join(const struct agent_message_item *from, struct arena *arena)
{
	if (from->content_count == 1)
		return from->content[0].text->text;
	size_t len = 0;
	for (size_t i = 0; i < from->content_count; i++)
		len += from->content[i].text->text.len;
	char *all = arena_alloc_raw(arena, len + 1), *end = all;
	for (size_t i = 0; i < from->content_count; i++) {
		struct str part = from->content[i].text->text;
		if (part.len)
			memcpy(end, part.ptr, part.len);
		end += part.len;
	}
	*end = '\0';
	return str_n(all, len);
}

static struct app_thread_item agent_message(const struct agent_message_item *from, struct arena *arena)
{
	struct app_item_agent_message *to = arena_new(arena, struct app_item_agent_message);
	int phase = 0;
	to->id = from->id;
	to->text = join(from, arena);
	to->has_phase = from->phase.ptr && enum_parse(&enum_app_message_phase, from->phase, &phase);
	to->phase = (enum app_message_phase)phase;
	to->questions = from->questions;
	to->delivery = from->questions.ptr ? STR("\"async\"") : STR_NONE;
	return (struct app_thread_item){.tag = app_thread_item_agent_message, .agent_message = to};
}

static struct app_thread_item reasoning(const struct reasoning_item *from, struct arena *arena)
{
	struct app_item_reasoning *to = arena_new(arena, struct app_item_reasoning);
	*to = (struct app_item_reasoning){
		.id = from->id,
		.summary = from->summary_text,
		.summary_count = from->summary_text_count,
		.content = from->raw_content,
		.content_count = from->raw_content_count,
	};
	return (struct app_thread_item){.tag = app_thread_item_reasoning, .reasoning = to};
}

static struct app_thread_item plan(const struct plan_item *from, struct arena *arena)
{
	struct app_item_plan *to = arena_new(arena, struct app_item_plan);
	*to = (struct app_item_plan){.id = from->id, .text = from->text};
	return (struct app_thread_item){.tag = app_thread_item_plan, .plan = to};
}

/* Translates the type of an action, whose other members are those of the Responses API. */
static struct str search_action(struct str action, struct arena *arena)
{
	static const char *const types[][2] = {
		{"search", "search"}, {"open_page", "openPage"}, {"find_in_page", "findInPage"}};
	struct error err;
	auto_buf struct buf out;
	const struct json *object = action.ptr ? json_parse(arena, action, &err) : NULL;
	struct str type = json_get_str(object, "type");
	const char *name = "other";
	buf_init(&out, LIMIT_LINE);
	if (!json_is(object, JSON_object))
		return STR_NONE;
	for (size_t i = 0; i < countof(types); i++)
		name = str_is(type, types[i][0]) ? types[i][1] : name;
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_cstr(&w, "type", name);
	json_for_each(it, object) {
		if (str_is(it->key, "type"))
			continue;
		jw_key_str(&w, it->key);
		jw_raw(&w, it->span);
	}
	jw_object_end(&w);
	return out.over ? STR_NONE : arena_str(arena, buf_str(&out));
}

static struct app_thread_item web_search(const struct web_search_item *from, struct arena *arena)
{
	struct app_web_search_item *to = arena_new(arena, struct app_web_search_item);
	*to = (struct app_web_search_item){.id = from->id, .query = from->query};
	to->action = search_action(from->action, arena);
	if (!to->query.ptr)
		to->query = STR("");
	return (struct app_thread_item){.tag = app_thread_item_web_search, .web_search = to};
}

static struct app_thread_item compaction(const struct compaction_item *from, struct arena *arena)
{
	struct app_item_context_compaction *to = arena_new(arena, struct app_item_context_compaction);
	to->id = from->id;
	return (struct app_thread_item){.tag = app_thread_item_context_compaction, .context_compaction = to};
}

static struct app_thread_item sleep_view(const struct sleep_item *from, struct arena *arena)
{
	struct app_sleep_item *to = arena_new(arena, struct app_sleep_item);
	*to = (struct app_sleep_item){.id = from->id, .duration_ms = from->duration_ms};
	return (struct app_thread_item){.tag = app_thread_item_sleep, .sleep = to};
}

struct app_thread_item item_view(const struct turn_item *from, struct arena *arena)
{
	switch (from->tag) {
	case turn_item_user_message:
		return user_message(from->user_message, arena);
	case turn_item_agent_message:
		return agent_message(from->agent_message, arena);
	case turn_item_plan:
		return plan(from->plan, arena);
	case turn_item_reasoning:
		return reasoning(from->reasoning, arena);
	case turn_item_web_search:
		return web_search(from->web_search, arena);
	case turn_item_sleep:
		return sleep_view(from->sleep, arena);
	default:
		return compaction(from->context_compaction, arena);
	}
}

/* ---- commands ---- */

struct str item_view_command_text(const struct str *words, size_t count, struct arena *arena)
{
	struct buf text;
	buf_init(&text, LIMIT_LINE);
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_append_char(&text, ' ');
		shell_quote(&text, words[i]);
	}
	struct str ret = arena_str(arena, buf_str(&text));
	buf_finish(&text);
	return ret;
}

/* Returns the absolute path of a file that a command reads. */
static struct str full_path(struct str cwd, struct str path, struct arena *arena)
{
	auto_free char *base = str_dup(cwd);
	auto_free char *name = str_dup(path);
	auto_free char *joined = path_join(base, name);
	auto_free char *clean = path_normalize(joined);
	return arena_str(arena, str_of(clean));
}

static struct app_command_action action_of(const struct parsed_command *from, struct str cwd, struct arena *arena)
{
	struct app_command_action to = {0};
	switch (from->tag) {
	case parsed_command_read:
		to.tag = app_command_action_read;
		to.read = arena_new(arena, struct app_action_read);
		*to.read = (struct app_action_read){from->read->cmd, from->read->name,
		                                    full_path(cwd, from->read->path, arena)};
		break;
	case parsed_command_list_files:
		to.tag = app_command_action_list_files;
		to.list_files = arena_new(arena, struct app_action_list_files);
		*to.list_files = (struct app_action_list_files){from->list_files->cmd, from->list_files->path};
		break;
	case parsed_command_search:
		to.tag = app_command_action_search;
		to.search = arena_new(arena, struct app_action_search);
		*to.search = (struct app_action_search){from->search->cmd, from->search->query, from->search->path};
		break;
	default:
		to.tag = app_command_action_unknown;
		to.unknown = arena_new(arena, struct app_action_unknown);
		to.unknown->command = from->unknown->cmd;
	}
	return to;
}

struct app_command_action *item_view_actions(const struct parsed_command *parsed, size_t count, struct str cwd,
                                             struct arena *arena)
{
	struct app_command_action *ret = arena_array(arena, struct app_command_action, count);
	for (size_t i = 0; i < count; i++)
		ret[i] = action_of(&parsed[i], cwd, arena);
	return ret;
}

/* ---- patches ---- */

static struct app_file_update_change change_of(struct str path, const struct file_change *from, struct arena *arena)
{
	struct app_patch_change_kind *kind = arena_new(arena, struct app_patch_change_kind);
	struct app_file_update_change to = {.path = path, .kind = kind};
	if (from->tag != file_change_update) {
		bool is_new = from->tag == file_change_add;
		kind->tag = is_new ? app_patch_change_kind_add : app_patch_change_kind_delete;
		to.diff = is_new ? from->add->content : from->delete->content;
		return to;
	}
	kind->tag = app_patch_change_kind_update;
	kind->update = arena_new(arena, struct app_patch_update);
	kind->update->move__path = from->update->move_path;
	to.diff = from->update->unified_diff;
	if (from->update->move_path.ptr)
		to.diff = str_of(arena_printf(arena, "%.*s\n\nMoved to: %.*s", (int)to.diff.len, to.diff.ptr,
		                              STR_ARG(from->update->move_path)));
	return to;
}

static int by_path(const void *a, const void *b)
{
	const struct app_file_update_change *left = a, *right = b;
	return str_compare(left->path, right->path);
}

struct app_item_file_change *item_view_patch(struct str id, const struct str *paths, const struct file_change *changes,
                                             size_t count, struct arena *arena)
{
	struct app_item_file_change *ret = arena_new(arena, struct app_item_file_change);
	ret->id = id;
	ret->changes = arena_array(arena, struct app_file_update_change, count);
	ret->changes_count = count;
	for (size_t i = 0; i < count; i++)
		ret->changes[i] = change_of(paths[i], &changes[i], arena);
	return ret;
}

void item_view_sort_changes(struct app_item_file_change *patch)
{
	qsort(patch->changes, patch->changes_count, sizeof(*patch->changes), by_path);
}

struct app_item_file_change *item_view_file_change(struct str id, const struct str *paths,
                                                   const struct file_change *changes, size_t count, struct arena *arena)
{
	struct app_item_file_change *ret = item_view_patch(id, paths, changes, count, arena);
	item_view_sort_changes(ret);
	return ret;
}

/* ---- errors of a turn ---- */

/* Converts snake_case keys and words to camelCase, at any depth. */
static void write_camel(struct buf *out, struct str json)
{
	for (size_t i = 0; i < json.len; i++) {
		bool is_joint =
			json.ptr[i] == '_' && i + 1 < json.len && json.ptr[i + 1] >= 'a' && json.ptr[i + 1] <= 'z';
		buf_append_char(out, is_joint ? (char)(json.ptr[++i] - 'a' + 'A') : json.ptr[i]);
	}
}

struct app_codex_error_info *item_view_error_info(struct str info, struct arena *arena)
{
	struct app_codex_error_info *ret = arena_new(arena, struct app_codex_error_info);
	struct buf text;
	ret->tag = app_codex_error_info_other;
	if (!info.ptr)
		return NULL;
	buf_init(&text, 4 * KIB);
	write_camel(&text, info);
	const struct json *json = json_parse_copy(arena, buf_str(&text), NULL);
	buf_finish(&text);
	if (!json || union_decode(&union_app_codex_error_info, json, arena, ret, NULL) != 0)
		*ret = (struct app_codex_error_info){.tag = app_codex_error_info_other};
	return ret;
}

/* ---- tools of the client, subagents ---- */

struct app_dynamic_tool_call_output_content_item *item_view_dynamic_parts(const struct json *list, struct arena *arena,
                                                                          size_t *ret_count)
{
	size_t most = json_is(list, JSON_array) ? list->count : 0, count = 0;
	struct app_dynamic_tool_call_output_content_item *parts =
		arena_array(arena, struct app_dynamic_tool_call_output_content_item, most ? most : 1);
	for (const struct json *it = most ? list->child : NULL; it; it = it->next)
		count += union_decode(&union_app_dynamic_tool_call_output_content_item, it, arena, &parts[count],
		                      NULL) == 0;
	*ret_count = count;
	return parts;
}

static enum app_collab_agent_status status_of(enum agent_status_tag tag)
{
	static const enum app_collab_agent_status statuses[] = {
		[agent_status_pending_init] = app_collab_agent_status_pending_init,
		[agent_status_running] = app_collab_agent_status_running,
		[agent_status_interrupted] = app_collab_agent_status_interrupted,
		[agent_status_completed] = app_collab_agent_status_completed,
		[agent_status_errored] = app_collab_agent_status_errored,
		[agent_status_shutdown] = app_collab_agent_status_shutdown,
		[agent_status_not_found] = app_collab_agent_status_not_found,
	};
	return statuses[tag];
}

struct app_collab_agent_state item_view_collab_state(const struct agent_status *status)
{
	struct app_collab_agent_state state = {.status = status_of(status->tag)};
	if (status->tag == agent_status_completed)
		state.message = status->completed->message;
	else if (status->tag == agent_status_errored)
		state.message = status->errored->message;
	return state;
}

/* ---- MCP tool calls ---- */

static struct str span_of(const struct json *json, const char *key)
{
	const struct json *member = json_get(json, key);
	return member && member->type != JSON_null ? member->span : STR_NONE;
}

void item_view_mcp_answer(struct app_thread_item_mcp_tool_call *call, const struct json *answer, struct arena *arena)
{
	struct app_mcp_tool_call_result *result = arena_new(arena, struct app_mcp_tool_call_result);
	struct str content = span_of(answer, "content");
	result->content = content.ptr ? content : STR("[]");
	result->_meta = span_of(answer, "_meta");
	result->structured_content = span_of(answer, "structuredContent");
	call->result = result;
	call->status = json_get_bool(answer, "isError", false) ? app_mcp_tool_call_status_failed
	                                                       : app_mcp_tool_call_status_completed;
}

void item_view_mcp_error(struct app_thread_item_mcp_tool_call *call, struct str message, struct arena *arena)
{
	call->error = arena_new(arena, struct app_mcp_tool_call_error);
	call->error->message = message;
	call->status = app_mcp_tool_call_status_failed;
}
