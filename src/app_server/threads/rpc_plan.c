/* thread/prepareApprovedPlan: what was planned in one thread is carried out in another. The plan goes into the history
 * of that one, whole, so that the user's first words to it can be short. */
#include "app_server/rpc/server.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/rpc_thread.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/codex/codex.h"

static void write_item(struct buf *out, struct str plan)
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
	struct thread *thread = threads_get(request, params->thread_id);
	if (!thread)
		return RPC_FAIL;
	if (!plan.len)
		return rpc_fail(request, APP_INVALID_REQUEST, "The approved plan is empty.");
	if (params->attachment_path.ptr && !str_has_prefix(params->attachment_path, "/"))
		return rpc_fail(request, APP_INVALID_PARAMS, "`attachmentPath` must be absolute on the app server");
	write_item(&item, plan);
	if (codex_add_items(thread->codex, &(struct str){item.data, item.len}, 1, &err) != 0)
		return rpc_thread_refuse(request, &err);
	return rpc_reply(request, &response);
}
