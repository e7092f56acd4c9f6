/* thread/inject_items adds items to the history. The provider validates them; this file checks only the members without
 * which every later request of the thread would fail. Items of unknown types are omitted, as by codex 0.169, but with a
 * warning. thread/prepareApprovedPlan is here as well. */
#include "app_server/threads/thread_inject.h"

#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "app_server/rpc/server.h"
#include "base/error.h"
#include "base/json.h"
#include "base/vec.h"
#include "base/limits.h"
#include "engine/codex/codex.h"

/* The required members of each type, beside `type`. */
static const struct item_kind {
	const char *type;
	const char *needs[3];
} kinds[] = {
	{"message", {"role", "content"}},
	{"agent_message", {"author", "recipient", "content"}},
	{"reasoning", {"summary"}},
	{"local_shell_call", {"status", "action"}},
	{"function_call", {"name", "arguments", "call_id"}},
	{"function_call_output", {"call_id", "output"}},
	{"custom_tool_call", {"call_id", "name", "input"}},
	{"custom_tool_call_output", {"call_id", "output"}},
	{"tool_search_call", {"execution", "arguments"}},
	{"tool_search_output", {"status", "execution", "tools"}},
	{"web_search_call", {NULL}},
	{"image_generation_call", {"id", "status", "result"}},
	{"compaction", {"encrypted_content"}},
	{"compaction_summary", {"encrypted_content"}},
	{"context_compaction", {NULL}},
};

static const struct item_kind *find_kind(struct str type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (str_is(type, kinds[i].type))
			return &kinds[i];
	}
	return NULL;
}

static const char *find_missing(const struct json *item)
{
	const struct item_kind *kind = find_kind(json_get_str(item, "type"));
	if (!json_is(json_get(item, "type"), JSON_string))
		return "type";
	for (size_t i = 0; kind && i < 3 && kind->needs[i]; i++) {
		if (!json_get(item, kind->needs[i]))
			return kind->needs[i];
	}
	return NULL;
}

int thread_inject_check(const struct json *items, struct error *err)
{
	size_t at = 0;
	if (!json_is(items, JSON_array))
		return error_set(err, ERR_invalid, "Invalid request: invalid type: %s, expected a sequence",
		                 items ? json_type_name(items->type) : "nothing");
	if (!items->count)
		return error_set(err, ERR_invalid, "items must not be empty");
	json_for_each(item, items) {
		const char *missing = json_is(item, JSON_object) ? find_missing(item) : NULL;
		if (!json_is(item, JSON_object))
			return error_set(err, ERR_invalid,
			                 "items[%zu] is not a valid response item: invalid type: %s, expected "
			                 "internally tagged enum ResponseItem",
			                 at, json_type_name(item->type));
		if (missing)
			return error_set(err, ERR_invalid,
			                 "items[%zu] is not a valid response item: missing field `%s`", at, missing);
		at++;
	}
	return 0;
}

/* Replaces line ends between values by spaces: the rollout has one line for each item. */
static struct str flatten(struct str json, struct arena *arena)
{
	char *copy = arena_alloc(arena, json.len + 1);
	for (size_t i = 0; i < json.len; i++)
		copy[i] = json.ptr[i] == '\n' || json.ptr[i] == '\r' ? ' ' : json.ptr[i];
	return str_n(copy, json.len);
}

static void warn_omitted(struct thread *thread, struct str type)
{
	auto_arena struct arena arena = {0};
	const char *words = arena_printf(&arena, "An item of the unknown type `%.*s` was skipped.",
	                                 type.len < 80 ? (int)type.len : 80, type.ptr);
	struct app_warning_notification warning = {str_of(thread->id), str_of(words)};
	thread_notify(thread, NOTIFY_warning, &warning);
}

int thread_inject(struct thread *thread, const struct json *items, struct arena *arena, struct error *err)
{
	size_t count = 0;
	struct str *texts = arena_array(arena, struct str, items->count);
	json_for_each(item, items) {
		if (find_kind(json_get_str(item, "type")))
			texts[count++] = flatten(item->span, arena);
		else
			warn_omitted(thread, json_get_str(item, "type"));
	}
	return count ? codex_add_items(thread->codex, texts, count, err) : 0;
}

enum rpc_verdict on_rpc_thread_inject_items(struct rpc_request *request,
                                            const struct app_thread_inject_items_params *params)
{
	struct error err;
	struct app_thread_inject_items_response response = {0};
	const struct json *items = json_parse(&request->arena, params->items, NULL);
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (thread_inject_check(items, &err) != 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "%s", err.text);
	if (thread_inject(thread, items, &request->arena, &err) != 0)
		return rpc_fail_submit(request, &err);
	return rpc_reply(request, &response);
}

/* ---- thread/prepareApprovedPlan ---- */

/* Adds a plan from another thread to the history of this one, which is going to carry it out. */
static void write_plan(struct buf *out, struct str plan)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "type", "message");
	jw_member_cstr(&w, "role", "developer");
	jw_key(&w, "content");
	jw_array(&w);
	jw_object(&w);
	jw_member_cstr(&w, "type", "input_text");
	jw_key(&w, "text");
	jw_strf(&w, "<approved_plan>\nThe user has read this plan and agreed to it.\n\n%.*s\n</approved_plan>",
	        STR_ARG(plan));
	jw_object_end(&w);
	jw_array_end(&w);
	jw_object_end(&w);
}

enum rpc_verdict on_rpc_thread_prepare_approved_plan(struct rpc_request *request,
                                                     const struct app_thread_prepare_approved_plan_params *params)
{
	struct error err;
	auto_buf struct buf item;
	buf_init(&item, 2 * LIMIT_LINE);
	struct str plan = str_trim(params->markdown);
	struct app_thread_prepare_approved_plan_response response = {STR("Carry out the plan that I have approved.")};
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (!plan.len)
		return rpc_fail(request, APP_INVALID_REQUEST, "The approved plan is empty.");
	if (params->attachment_path.ptr && !str_has_prefix(params->attachment_path, "/"))
		return rpc_fail(request, APP_INVALID_PARAMS, "`attachmentPath` must be absolute on the app server");
	write_plan(&item, plan);
	if (codex_add_items(thread->codex, &(struct str){item.data, item.len}, 1, &err) != 0)
		return rpc_fail_submit(request, &err);
	return rpc_reply(request, &response);
}
