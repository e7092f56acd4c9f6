/* A review is a turn of its thread and replaces a running one. The response contains the target as a message of the
 * user, which clients display until the review starts. */
#include "app_server/rpc/server.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "app_server/threads/thread_turn.h"
#include "base/error.h"
#include "base/limits.h"
#include "engine/codex/codex.h"
#include "protocol/message/review_text.h"

/* Converts the target to the engine's record; NULL and err if its name is empty. */
static struct review_target *copy_target(const struct app_review_target *from, struct arena *arena, struct error *err)
{
	struct review_target *to = arena_new(arena, struct review_target);
	struct str name = STR("-");
	const char *what = NULL;
	switch (from->tag) {
	case app_review_target_base_branch:
		to->tag = review_target_base_branch;
		to->base_branch = arena_new(arena, struct review_branch);
		to->base_branch->branch = name = str_trim(from->base_branch->branch);
		what = "branch";
		break;
	case app_review_target_commit:
		to->tag = review_target_commit;
		to->commit = arena_new(arena, struct review_commit);
		to->commit->sha = name = str_trim(from->commit->sha);
		to->commit->title = from->commit->title;
		what = "sha";
		break;
	case app_review_target_custom:
		to->tag = review_target_custom;
		to->custom = arena_new(arena, struct review_custom);
		to->custom->instructions = name = str_trim(from->custom->instructions);
		what = "instructions";
		break;
	default:
		to->tag = review_target_uncommitted_changes;
	}
	if (name.len)
		return to;
	error_set(err, ERR_invalid, "%s must not be empty", what);
	return NULL;
}

static enum rpc_verdict answer(struct rpc_request *request, const struct thread *thread, struct str turn_id,
                               const struct review_target *target)
{
	auto_buf struct buf hint;
	buf_init(&hint, LIMIT_REVIEW_TEXT);
	review_write_hint(target, &hint);
	struct app_input_text text = {.text = buf_str(&hint)};
	struct app_user_input input = {.tag = app_user_input_text, .text = &text};
	struct app_item_user_message message = {.id = turn_id, .content = &input, .content_count = 1};
	struct app_thread_item item = {.tag = app_thread_item_user_message, .user_message = &message};
	struct app_turn turn = {
		.id = turn_id,
		.items = &item,
		.items_count = 1,
		.items_view = app_turn_items_view_not_loaded,
		.status = app_turn_status_in_progress,
	};
	struct app_review_start_response response = {.turn = &turn, .review_thread_id = str_of(thread->id)};
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_review_start(struct rpc_request *request, const struct app_review_start_params *params)
{
	struct error err;
	char id[UUID_TEXT_SIZE];
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	struct review_request review = {.target = copy_target(params->target, &request->arena, &err)};
	struct op_review op_review = {&review};
	const struct op op = {.tag = OP_review, .review = &op_review};
	uuid_v7(id);
	if (!review.target || codex_submit_op(thread->codex, str_of(id), &op, &err) != 0)
		return rpc_fail_submit(request, &err);
	if (!thread->turn)
		thread_turn_create(thread, str_of(id))->is_review = true;
	return answer(request, thread, str_of(id), review.target);
}
