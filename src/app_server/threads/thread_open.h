/* thread_open.h — opens a thread: creates its Codex and its session, and the threads of its subagents.
 *
 * Loop thread only. */
#ifndef APP_SERVER_THREAD_OPEN_H
#define APP_SERVER_THREAD_OPEN_H

#include "base/error.h"
#include "protocol/message/app.h"

struct arena;
struct rpc_request;
struct thread;
struct thread_opening;

/* Creates the thread and its session; opening->answer answers the request after the session was configured. If that
 * fails, the request fails and the thread is destroyed. Takes ownership of opening->load even on error. NULL and
 * err: the request was not answered. */
must_check struct thread *thread_open(struct rpc_request *request, const struct thread_opening *opening,
                                      struct error *err);

/* Members that the responses of thread/resume and thread/fork share with that of thread/start. */
#define THREAD_OPEN_RESPONSE(from)                                                                                  \
	.thread = (from)->thread, .model = (from)->model, .model_provider = (from)->model_provider,                 \
	.cwd = (from)->cwd, .runtime_workspace_roots = (from)->runtime_workspace_roots,                             \
	.runtime_workspace_roots_count = (from)->runtime_workspace_roots_count,                                     \
	.instruction_sources = (from)->instruction_sources,                                                         \
	.instruction_sources_count = (from)->instruction_sources_count, .approval_policy = (from)->approval_policy, \
	.approvals_reviewer = (from)->approvals_reviewer, .sandbox = (from)->sandbox,                               \
	.active_permission_profile = (from)->active_permission_profile,                                             \
	.has_reasoning_effort = (from)->has_reasoning_effort, .reasoning_effort = (from)->reasoning_effort

/* Fills the response of thread/start, in the arena: the thread without turns, and its settings. */
void thread_open_describe(const struct thread *thread, struct arena *arena, struct app_thread_start_response *ret);

#endif
