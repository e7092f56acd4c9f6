/* Messages and reasoning are decoded by protocol/record/types.def. Commands and patches are decoded by hand: their
 * lines have the form of codex 0.169, which rollout_tool_item.c writes by hand as well. */
#include "app_server/history/thread_history_item.h"

#include "app_server/history/item_view.h"
#include "base/limits.h"
#include "base/text.h"
#include "command/shell.h"
#include "protocol/record/types.h"

/* ---- user messages ---- */

static size_t length_of(const struct json *array)
{
	return json_is(array, JSON_array) ? array->count : 0;
}

static void add_text(struct app_item_user_message *item, const struct json *payload, struct arena *arena)
{
	struct app_input_text *text = arena_new(arena, struct app_input_text);
	const struct json *elements = json_get(payload, "text_elements");
	text->text = json_get_str(payload, "message");
	text->text__elements = arena_array(arena, struct app_text_element, length_of(elements));
	json_for_each(it, elements) {
		struct text_element element;
		if (record_decode(&record_text_element, it, arena, &element, NULL) != 0)
			continue;
		struct app_byte_range *range = arena_new(arena, struct app_byte_range);
		*range = (struct app_byte_range){element.byte_range->start, element.byte_range->end};
		text->text__elements[text->text__elements_count++] =
			(struct app_text_element){range, element.placeholder};
	}
	if (text->text.len)
		item->content[item->content_count++] =
			(struct app_user_input){.tag = app_user_input_text, .text = text};
}

struct app_item_user_message *history_item_user(const struct json *payload, struct arena *arena)
{
	struct app_item_user_message *item = arena_new(arena, struct app_item_user_message);
	const struct json *urls = json_get(payload, "images"), *files = json_get(payload, "local_images");
	item->content = arena_array(arena, struct app_user_input, 1 + length_of(urls) + length_of(files));
	add_text(item, payload, arena);
	for (size_t i = 0; i < length_of(urls); i++) {
		struct app_input_image *image = arena_new(arena, struct app_input_image);
		if (json_to_str(json_at(urls, i), &image->url))
			item->content[item->content_count++] =
				(struct app_user_input){.tag = app_user_input_image, .image = image};
	}
	for (size_t i = 0; i < length_of(files); i++) {
		struct app_input_local_image *image = arena_new(arena, struct app_input_local_image);
		if (json_to_str(json_at(files, i), &image->path))
			item->content[item->content_count++] =
				(struct app_user_input){.tag = app_user_input_local_image, .local_image = image};
	}
	return item;
}

/* ---- commands ---- */

static struct str path_of(struct str address, struct arena *arena)
{
	auto_buf struct buf path;
	buf_init(&path, LIMIT_LINE);
	if (!str_cut_prefix(&address, "file://") || str_find_char(address, '%') < 0)
		return address;
	text_append_url_decoded(&path, address);
	return arena_str(arena, buf_str(&path));
}

static void decode_words(const struct json *words, struct app_item_command_execution *to, struct arena *arena)
{
	size_t count = 0;
	struct str *list = arena_array(arena, struct str, length_of(words));
	json_for_each(it, words)
		count += json_to_str(it, &list[count]);
	to->command = item_view_command_text(list, count, arena);
}

static void decode_actions(const struct json *parsed, struct app_item_command_execution *to, struct arena *arena)
{
	size_t count = 0;
	struct parsed_command *list = arena_array(arena, struct parsed_command, length_of(parsed));
	json_for_each(it, parsed)
		count += union_decode(&union_parsed_command, it, arena, &list[count], NULL) == 0;
	to->command_actions = item_view_actions(list, count, to->cwd, arena);
	to->command_actions_count = count;
}

/* Maps a value of the engine (snake_case) to the wire's enum (camelCase); unknown values become `fallback`. */
static int choice(const struct enum_type *type, struct str word, int fallback)
{
	int value = fallback;
	char name[64];
	size_t len = 0;
	for (size_t i = 0; i < word.len && len + 1 < sizeof(name); i++) {
		bool is_joint =
			word.ptr[i] == '_' && i + 1 < word.len && word.ptr[i + 1] >= 'a' && word.ptr[i + 1] <= 'z';
		name[len++] = is_joint ? (char)(word.ptr[++i] - 'a' + 'A') : word.ptr[i];
	}
	enum_parse(type, str_n(name, len), &value);
	return value;
}

static int64_t ms_of(const struct json *duration)
{
	double ms = (double)json_get_i64(duration, "secs", 0) * 1e3 + (double)json_get_i64(duration, "nanos", 0) / 1e6;
	return ms >= 0 && ms < 9e15 ? (int64_t)ms : 0;
}

static bool decode_command(const struct json *item, struct arena *arena, struct app_thread_item *ret)
{
	struct app_item_command_execution *to = arena_new(arena, struct app_item_command_execution);
	const struct json *duration = json_get(item, "duration");
	to->id = json_get_str(item, "id");
	to->cwd = path_of(json_get_str(item, "cwd"), arena);
	to->process_id = json_get_str(item, "process_id");
	to->source = (enum app_command_execution_source)choice(&enum_app_command_execution_source,
	                                                       json_get_str(item, "source"), 0);
	to->status = (enum app_command_execution_status)choice(
		&enum_app_command_execution_status, json_get_str(item, "status"), app_command_execution_status_failed);
	to->aggregated_output = json_get_str(item, "aggregated_output");
	if (!to->aggregated_output.len)
		to->aggregated_output = STR_NONE;
	to->has_exit_code = json_to_i64(json_get(item, "exit_code"), &to->exit_code);
	to->has_duration_ms = json_is(duration, JSON_object);
	to->duration_ms = ms_of(duration);
	decode_words(json_get(item, "command"), to, arena);
	decode_actions(json_get(item, "parsed_cmd"), to, arena);
	*ret = (struct app_thread_item){.tag = app_thread_item_command_execution, .command_execution = to};
	return to->id.ptr && to->cwd.ptr;
}

/* ---- patches ---- */

static bool decode_patch(const struct json *item, struct arena *arena, struct app_thread_item *ret)
{
	const struct json *changes = json_get(item, "changes");
	size_t count = 0, most = json_is(changes, JSON_object) ? changes->count : 0;
	struct str *paths = arena_array(arena, struct str, most);
	struct file_change *list = arena_array(arena, struct file_change, most);
	json_for_each(it, changes) {
		paths[count] = it->key;
		count += union_decode(&union_file_change, it, arena, &list[count], NULL) == 0;
	}
	struct app_item_file_change *to = item_view_patch(json_get_str(item, "id"), paths, list, count, arena);
	to->status = (enum app_patch_apply_status)choice(&enum_app_patch_apply_status, json_get_str(item, "status"),
	                                                 app_patch_apply_status_failed);
	*ret = (struct app_thread_item){.tag = app_thread_item_file_change, .file_change = to};
	return to->id.ptr;
}

/* ---- images ---- */

static bool decode_image(const struct json *item, struct arena *arena, struct app_thread_item *ret)
{
	struct app_item_image_view *to = arena_new(arena, struct app_item_image_view);
	to->id = json_get_str(item, "id");
	to->path = path_of(json_get_str(item, "path"), arena);
	*ret = (struct app_thread_item){.tag = app_thread_item_image_view, .image_view = to};
	return to->id.ptr && to->path.ptr;
}

/* ---- item_completed ---- */

static bool decode_review(const struct json *item, enum app_thread_item_tag tag, struct arena *arena,
                          struct app_thread_item *ret)
{
	struct app_item_review_mode *to = arena_new(arena, struct app_item_review_mode);
	*to = (struct app_item_review_mode){.id = json_get_str(item, "id"), .review = json_get_str(item, "review")};
	*ret = (struct app_thread_item){.tag = tag, .body = to};
	return to->id.ptr && to->review.ptr;
}

static bool decode_dynamic(const struct json *item, struct arena *arena, struct app_thread_item *ret)
{
	struct app_item_dynamic_tool_call *to = arena_new(arena, struct app_item_dynamic_tool_call);
	const struct json *arguments = json_get(item, "arguments"), *duration = json_get(item, "duration");
	*to = (struct app_item_dynamic_tool_call){
		.id = json_get_str(item, "id"),
		.namespace = json_get_str(item, "namespace"),
		.tool = json_get_str(item, "tool"),
		.arguments = arguments ? arguments->span : STR("{}"),
		.status = (enum app_dynamic_tool_call_status)choice(&enum_app_dynamic_tool_call_status,
	                                                            json_get_str(item, "status"),
	                                                            app_dynamic_tool_call_status_failed),
		.has_duration_ms = json_is(duration, JSON_object),
		.duration_ms = ms_of(duration),
	};
	to->has_success = json_to_bool(json_get(item, "success"), &to->success);
	to->content_items = item_view_dynamic_parts(json_get(item, "content_items"), arena, &to->content_items_count);
	*ret = (struct app_thread_item){.tag = app_thread_item_dynamic_tool_call, .dynamic_tool_call = to};
	return to->id.ptr && to->tool.ptr;
}

static bool decode_mcp(const struct json *item, struct arena *arena, struct app_thread_item *ret)
{
	struct app_thread_item_mcp_tool_call *to = arena_new(arena, struct app_thread_item_mcp_tool_call);
	const struct json *arguments = json_get(item, "arguments"), *duration = json_get(item, "duration");
	const struct json *result = json_get(item, "result");
	*to = (struct app_thread_item_mcp_tool_call){
		.id = json_get_str(item, "id"),
		.server = json_get_str(item, "server"),
		.tool = json_get_str(item, "tool"),
		.arguments = arguments ? arguments->span : STR("null"),
		.status = app_mcp_tool_call_status_failed,
		.has_duration_ms = json_is(duration, JSON_object),
		.duration_ms = ms_of(duration),
	};
	if (json_is(result, JSON_object))
		item_view_mcp_answer(to, result, arena);
	else if (json_get_str(json_get(item, "error"), "message").ptr)
		item_view_mcp_error(to, json_get_str(json_get(item, "error"), "message"), arena);
	*ret = (struct app_thread_item){.tag = app_thread_item_mcp_tool_call, .mcp_tool_call = to};
	return to->id.ptr && to->server.ptr && to->tool.ptr;
}

/* ---- subagents ---- */

static void decode_receivers(const struct json *ids, struct app_item_collab_agent_tool_call *to, struct arena *arena)
{
	to->receiver_thread_ids = arena_array(arena, struct str, length_of(ids));
	json_for_each(it, ids)
		to->receiver_thread_ids_count +=
			json_to_str(it, &to->receiver_thread_ids[to->receiver_thread_ids_count]);
}

static void decode_states(const struct json *states, struct app_item_collab_agent_tool_call *to, struct arena *arena)
{
	size_t most = json_is(states, JSON_object) ? states->count : 0;
	to->agents_states_keys = arena_array(arena, struct str, most);
	to->agents_states = arena_array(arena, struct app_collab_agent_state, most);
	if (!most)
		return;
	json_for_each(it, states) {
		struct agent_status status;
		if (union_decode(&union_agent_status, it, arena, &status, NULL) != 0)
			continue;
		to->agents_states_keys[to->agents_states_count] = it->key;
		to->agents_states[to->agents_states_count++] = item_view_collab_state(&status);
	}
}

static bool decode_collab(const struct json *item, struct arena *arena, struct app_thread_item *ret)
{
	struct app_item_collab_agent_tool_call *to = arena_new(arena, struct app_item_collab_agent_tool_call);
	int tool = choice(&enum_app_collab_agent_tool, json_get_str(item, "tool"), -1), effort = 0;
	*to = (struct app_item_collab_agent_tool_call){
		.id = json_get_str(item, "id"),
		.tool = (enum app_collab_agent_tool)tool,
		.status = (enum app_collab_agent_tool_call_status)choice(&enum_app_collab_agent_tool_call_status,
	                                                                 json_get_str(item, "status"),
	                                                                 app_collab_agent_tool_call_status_failed),
		.sender_thread_id = json_get_str(item, "sender_thread_id"),
		.prompt = json_get_str(item, "prompt"),
		.model = json_get_str(item, "model"),
	};
	struct str word = json_get_str(item, "reasoning_effort");
	to->has_reasoning_effort = word.len && enum_parse(&enum_reasoning_effort, word, &effort);
	to->reasoning_effort = (enum reasoning_effort)effort;
	decode_receivers(json_get(item, "receiver_thread_ids"), to, arena);
	decode_states(json_get(item, "agents_states"), to, arena);
	*ret = (struct app_thread_item){.tag = app_thread_item_collab_agent_tool_call, .collab_agent_tool_call = to};
	return tool >= 0 && to->id.ptr && to->sender_thread_id.ptr;
}

/* ---- reviews ---- */

static bool decode_entered(const struct json *item, struct arena *arena, struct app_thread_item *ret)
{
	return decode_review(item, app_thread_item_entered_review_mode, arena, ret);
}

static bool decode_exited(const struct json *item, struct arena *arena, struct app_thread_item *ret)
{
	return decode_review(item, app_thread_item_exited_review_mode, arena, ret);
}

static const struct {
	const char *wire;
	bool (*decode)(const struct json *item, struct arena *arena, struct app_thread_item *ret);
} kinds[] = {
	{"CommandExecution", decode_command},  {"FileChange", decode_patch},
	{"ImageView", decode_image},           {"DynamicToolCall", decode_dynamic},
	{"McpToolCall", decode_mcp},           {"CollabAgentToolCall", decode_collab},
	{"EnteredReviewMode", decode_entered}, {"ExitedReviewMode", decode_exited},
};

bool history_item_decode(const struct json *json, struct arena *arena, struct app_thread_item *ret)
{
	struct turn_item item;
	struct str type = json_get_str(json, "type");
	if (!json_is(json, JSON_object))
		return false;
	for (size_t i = 0; i < countof(kinds); i++) {
		if (str_is(type, kinds[i].wire))
			return kinds[i].decode(json, arena, ret);
	}
	if (union_decode(&union_turn_item, json, arena, &item, NULL) != 0)
		return false;
	*ret = item_view(&item, arena);
	return true;
}

/* ---- a model's call ---- */

/* Tools that run commands, and the argument that contains the script or the argv. */
static const struct {
	const char *tool, *argument;
} command_tools[] = {{"exec_command", "cmd"}, {"shell_command", "command"}, {"shell", "command"}};

static void take_script(const struct json *what, struct app_item_command_execution *to, struct arena *arena)
{
	struct str script;
	if (json_to_str(what, &script)) {
		struct str words[] = {str_of(shell_user()), STR("-lc"), script};
		to->command = item_view_command_text(words, countof(words), arena);
	} else if (json_is(what, JSON_array)) {
		decode_words(what, to, arena);
	}
}

struct app_item_command_execution *history_item_call(const struct json *call, struct str cwd, struct arena *arena)
{
	struct str name = json_get_str(call, "name");
	const struct json *arguments = json_parse(arena, json_get_str(call, "arguments"), NULL);
	struct app_item_command_execution *to = arena_new(arena, struct app_item_command_execution);
	for (size_t i = 0; i < countof(command_tools); i++) {
		if (str_is(name, command_tools[i].tool))
			take_script(json_get(arguments, command_tools[i].argument), to, arena);
	}
	struct str folder = json_get_str(arguments, "workdir");
	to->id = json_get_str(call, "call_id");
	to->cwd = folder.len && folder.ptr[0] == '/' ? folder : cwd;
	to->source = app_command_execution_source_unified_exec_startup;
	to->status = app_command_execution_status_failed; /* unless the output reports success */
	return to->id.ptr && to->command.ptr ? to : NULL;
}

static bool find_number(struct str text, const char *label, int64_t *ret)
{
	ptrdiff_t at = str_find(text, str_of(label));
	if (at < 0)
		return false;
	*ret = strtol(text.ptr + at + strlen(label), NULL, 10);
	return true;
}

void history_item_finish_call(struct app_item_command_execution *command, const struct json *output,
                              struct arena *arena)
{
	const struct str label = STR("Output:\n");
	struct str text = STR_NONE;
	if (!json_to_str(json_get(output, "output"), &text))
		return;
	text = arena_str(arena, text); /* terminated by NUL, because a number may end the text */
	command->has_exit_code = find_number(text, "exited with code ", &command->exit_code) ||
	                         find_number(text, "Exit code: ", &command->exit_code);
	if (command->has_exit_code && command->exit_code == 0)
		command->status = app_command_execution_status_completed;
	ptrdiff_t at = str_find(text, label);
	if (at >= 0 && text.len > (size_t)at + label.len)
		command->aggregated_output = str_skip(text, (size_t)at + label.len);
}
