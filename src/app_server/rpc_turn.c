/* Turns are answered when they are queued, not when they run: what a client hears of them comes as notifications. What
 * is said while one runs joins it (app-server-wire 4, 11). */
#include <stdio.h>

#include "app_server/app_server_priv.h"
#include "app_server/rpc_request.h"
#include "app_server/thread.h"
#include "app_server/thread_policy.h"
#include "app_server/thread_turn.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/codex.h"

/* ---- what is said, in the engine's words ---- */

static void copy_text(const struct app_input_text *from, struct user_input *to, struct arena *arena)
{
	to->tag = user_input_text;
	to->text = arena_new(arena, struct input_text);
	to->text->text = from->text;
	to->text->text_elements_count = from->text__elements_count;
	to->text->text_elements = arena_array(arena, struct text_element, from->text__elements_count);
	for (size_t i = 0; i < from->text__elements_count; i++) {
		struct byte_range *range = arena_new(arena, struct byte_range);
		*range = (struct byte_range){from->text__elements[i].byte_range->start,
		                             from->text__elements[i].byte_range->end};
		to->text->text_elements[i] = (struct text_element){range, from->text__elements[i].placeholder};
	}
}

static int copy_input(const struct app_user_input *from, struct user_input *to, struct arena *arena, struct error *err)
{
	switch (from->tag) {
	case app_user_input_text:
		copy_text(from->text, to, arena);
		return 0;
	case app_user_input_image:
		if (!from->image->url.ptr)
			return error_set(err, ERR_invalid,
			                 "image input needs `url`: files of a provider cannot be sent");
		to->tag = user_input_image;
		to->image = arena_new(arena, struct input_image);
		to->image->image_url = from->image->url;
		return 0;
	case app_user_input_local_image:
		to->tag = user_input_local_image;
		to->local_image = arena_new(arena, struct input_local_image);
		to->local_image->path = from->local_image->path;
		return 0;
	case app_user_input_skill:
	case app_user_input_mention:
		to->tag = from->tag == app_user_input_skill ? user_input_skill : user_input_mention;
		to->skill = arena_new(arena, struct input_skill);
		*to->skill = (struct input_skill){from->skill->name, from->skill->path};
		return 0;
	default:
		return error_set(err, ERR_invalid,
		                 "This version of Codex has no audio, so it cannot take audio input.");
	}
}

static int copy_inputs(const struct app_user_input *from, size_t count, struct arena *arena, struct op_user_input *to,
                       struct error *err)
{
	to->items = arena_array(arena, struct user_input, count);
	to->items_count = count;
	for (size_t i = 0; i < count; i++) {
		if (copy_input(&from[i], &to->items[i], arena, err) != 0)
			return -(int)err->code;
	}
	return 0;
}

static int say(struct thread *thread, const struct op_user_input *input, struct str id, struct str client_id,
               struct error *err)
{
	struct op op = {.tag = OP_user_input, .user_input = (struct op_user_input *)(uintptr_t)input};
	if (codex_submit_op(thread->codex, id, &op, err) != 0)
		return -(int)err->code;
	if (input->items_count)
		thread_turn_expect(thread->turn, client_id);
	return 0;
}

/* What the queue cannot take now is told as such; every other failure is the client's. */
static enum rpc_verdict refuse(struct rpc_request *request, const struct error *err)
{
	if (err->code == ERR_limit)
		return rpc_fail(request, APP_OVERLOADED, "Server overloaded; retry later.");
	return rpc_fail_with(request, err);
}

/* ---- settings that come with a turn ---- */

static int resolve_cwd(struct rpc_request *request, struct str cwd, struct str *ret, struct error *err)
{
	auto_free char *name = str_dup(cwd);
	auto_free char *joined = path_join(request->server->cwd, name);
	auto_free char *clean = path_normalize(joined);
	if (!dir_exists(clean))
		return error_set(err, ERR_invalid, "cwd is not a folder: %s", clean);
	*ret = arena_str(&request->arena, str_of(clean));
	return 0;
}

static void change_mode(struct app_thread_settings *settings, const struct app_turn_start_params *params,
                        struct arena *arena)
{
	struct app_collaboration_mode *mode = arena_new(arena, struct app_collaboration_mode);
	mode->settings = arena_new(arena, struct app_collaboration_mode_settings);
	*mode->settings = *settings->collaboration_mode->settings;
	mode->mode = settings->collaboration_mode->mode;
	if (params->collaboration_mode) {
		mode->mode = params->collaboration_mode->mode;
		*mode->settings = *params->collaboration_mode->settings;
		settings->model = mode->settings->model;
		settings->has_effort = mode->settings->has_reasoning__effort;
		settings->effort = mode->settings->reasoning__effort;
	}
	mode->settings->model = settings->model;
	mode->settings->has_reasoning__effort = settings->has_effort;
	mode->settings->reasoning__effort = settings->effort;
	settings->collaboration_mode = mode;
}

/* The settings as they will be. */
static int change(struct rpc_request *request, const struct app_turn_start_params *params,
                  struct app_thread_settings *settings, struct error *err)
{
	if (params->cwd.ptr && resolve_cwd(request, params->cwd, &settings->cwd, err) != 0)
		return -(int)err->code;
	if (params->model.ptr)
		settings->model = params->model;
	if (params->approval_policy)
		settings->approval_policy = (struct app_ask_for_approval *)(uintptr_t)policy_normalize(
			params->approval_policy, &request->arena);
	if (params->sandbox_policy) {
		settings->sandbox_policy = params->sandbox_policy;
		settings->active_permission_profile = NULL;
	}
	if (params->has_effort) {
		settings->has_effort = params->effort != reasoning_effort_unset;
		settings->effort = params->effort;
	}
	if (params->has_summary) {
		settings->has_summary = true;
		settings->summary = params->summary;
	}
	if (params->has_personality) {
		settings->has_personality = true;
		settings->personality = params->personality;
	}
	change_mode(settings, params, &request->arena);
	return 0;
}

static int submit_change(struct thread *thread, const struct app_turn_start_params *params,
                         const struct app_thread_settings *settings, struct arena *arena, struct error *err)
{
	struct mode_settings mode_settings = {
		.model = settings->model,
		.has_reasoning_effort = settings->has_effort,
		.reasoning_effort = settings->effort,
		.developer_instructions = settings->collaboration_mode->settings->developer__instructions,
	};
	struct collaboration_mode mode = {settings->collaboration_mode->mode, &mode_settings};
	struct op_override_turn_context override = {
		.cwd = settings->cwd,
		.has_approval_policy = true,
		.approval_policy = policy_to_engine(settings->approval_policy),
		.sandbox_policy = params->sandbox_policy ? sandbox_to_engine(params->sandbox_policy, arena) : NULL,
		.model = settings->model,
		.has_effort = settings->has_effort,
		.effort = settings->effort,
		.has_summary = settings->has_summary,
		.summary = settings->summary,
		.collaboration_mode = params->collaboration_mode ? &mode : NULL,
		.has_personality = settings->has_personality,
		.personality = settings->personality,
	};
	if (params->cwd.ptr == NULL)
		override.cwd = STR_NONE; /* a folder that is gone since is no reason to refuse a turn */
	struct op op = {.tag = OP_override_turn_context, .override_turn_context = &override};
	return codex_submit_op(thread->codex, STR("settings"), &op, err);
}

static bool is_same(const struct app_thread_settings *a, const struct app_thread_settings *b)
{
	auto_buf struct buf left, right;
	struct json_writer w;
	buf_init(&left, LIMIT_LINE);
	buf_init(&right, LIMIT_LINE);
	w = json_writer(&left);
	record_encode(&record_app_thread_settings, a, &w);
	w = json_writer(&right);
	record_encode(&record_app_thread_settings, b, &w);
	return str_eq(buf_str(&left), buf_str(&right));
}

/* Only what is different is submitted, and told. */
static int apply(struct rpc_request *request, struct thread *thread, const struct app_turn_start_params *params,
                 struct error *err)
{
	struct app_thread_settings settings = *thread->settings;
	if (change(request, params, &settings, err) != 0)
		return -(int)err->code;
	if (is_same(&settings, thread->settings))
		return 0;
	if (submit_change(thread, params, &settings, &request->arena, err) != 0)
		return -(int)err->code;
	thread_set_settings(thread, &settings);
	struct app_thread_settings_updated_notification event = {str_of(thread->id), thread->settings};
	thread_notify(thread, NOTIFY_thread_settings_updated, &event);
	return 0;
}

/* ---- the methods ---- */

static enum rpc_verdict answer_start(struct rpc_request *request, const struct thread_turn *turn)
{
	struct app_turn view;
	thread_turn_view(turn, &view);
	struct app_turn_start_response response = {&view};
	return rpc_reply(request, &response);
}

static enum rpc_verdict start(struct rpc_request *request, struct thread *thread, const struct op_user_input *input,
                              struct str client_id)
{
	struct error err;
	struct thread_turn *turn = thread_turn_create(thread, STR_NONE);
	if (say(thread, input, str_of(turn->id), client_id, &err) == 0)
		return answer_start(request, turn);
	thread_turn_destroy(turn);
	return refuse(request, &err);
}

static enum rpc_verdict join(struct rpc_request *request, struct thread *thread, const struct op_user_input *input,
                             struct str client_id)
{
	struct error err;
	char id[UUID_TEXT_SIZE]; /* of another turn, should this one have ended by then */
	uuid_v7(id);
	if (say(thread, input, str_of(id), client_id, &err) != 0)
		return refuse(request, &err);
	return RPC_DONE;
}

enum rpc_verdict on_rpc_turn_start(struct rpc_request *request, const struct app_turn_start_params *params)
{
	struct error err;
	struct op_user_input input = {.final_output_json_schema = params->output_schema};
	struct thread *thread = threads_get(request, params->thread_id);
	if (!thread)
		return RPC_FAIL;
	if (copy_inputs(params->input, params->input_count, &request->arena, &input, &err) != 0 ||
	    apply(request, thread, params, &err) != 0)
		return refuse(request, &err);
	if (!thread->turn)
		return start(request, thread, &input, params->client_user_message_id);
	if (join(request, thread, &input, params->client_user_message_id) != RPC_DONE)
		return RPC_FAIL;
	return answer_start(request, thread->turn);
}

enum rpc_verdict on_rpc_turn_steer(struct rpc_request *request, const struct app_turn_steer_params *params)
{
	struct error err;
	struct op_user_input input = {0};
	struct thread *thread = threads_get(request, params->thread_id);
	if (!thread)
		return RPC_FAIL;
	if (!params->input_count)
		return rpc_fail(request, APP_INVALID_REQUEST, "input must not be empty");
	if (!thread->turn)
		return rpc_fail(request, APP_INVALID_REQUEST, "no active turn to steer");
	if (!str_is(params->expected_turn_id, thread->turn->id))
		return rpc_fail(request, APP_INVALID_REQUEST, "expected active turn id `%.*s` but found `%s`",
		                STR_ARG(params->expected_turn_id), thread->turn->id);
	if (copy_inputs(params->input, params->input_count, &request->arena, &input, &err) != 0)
		return refuse(request, &err);
	if (join(request, thread, &input, params->client_user_message_id) != RPC_DONE)
		return RPC_FAIL;
	struct app_turn_steer_response response = {str_of(thread->turn->id)};
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_turn_interrupt(struct rpc_request *request, const struct app_turn_interrupt_params *params)
{
	struct error err;
	struct op op = {.tag = OP_interrupt};
	struct thread *thread = threads_get(request, params->thread_id);
	if (!thread)
		return RPC_FAIL;
	if (!thread->turn)
		return rpc_fail(request, APP_INVALID_REQUEST, "no active turn to interrupt");
	if (!str_is(params->turn_id, thread->turn->id))
		return rpc_fail(request, APP_INVALID_REQUEST, "expected active turn id `%.*s` but found `%s`",
		                STR_ARG(params->turn_id), thread->turn->id);
	if (codex_submit_op(thread->codex, STR(""), &op, &err) != 0)
		return refuse(request, &err);
	return thread_turn_wait(thread->turn, request);
}
