/* thread_restore.h — opens a thread from a loaded rollout, for thread/resume and thread/fork, and copies data to the
 * thread that only the rollout contains. Loop thread only. */
#ifndef APP_SERVER_THREAD_RESTORE_H
#define APP_SERVER_THREAD_RESTORE_H

#include "app_server/threads/thread.h"

/* Members that the parameters of thread/resume and thread/fork share with those of thread/start. */
#define THREAD_RESTORE_PARAMS(from)                                                                           \
	.model = (from)->model, .model_provider = (from)->model_provider, .cwd = (from)->cwd,                 \
	.approval_policy = (from)->approval_policy, .has_approvals_reviewer = (from)->has_approvals_reviewer, \
	.approvals_reviewer = (from)->approvals_reviewer, .has_sandbox = (from)->has_sandbox,                 \
	.sandbox = (from)->sandbox, .permissions = (from)->permissions, .config = (from)->config,             \
	.base_instructions = (from)->base_instructions, .developer_instructions = (from)->developer_instructions

/* Opens the thread with the settings of its last turn, which the parameters override, and fails the request on
 * error. Takes ownership of the load. refusal: prefix of the error message; answer: see struct thread_opening. */
void thread_restore_open(struct rpc_request *request, struct thread_load *load,
                         const struct app_thread_start_params *params, const char *refusal, thread_answer_fn answer);

/* Sets times, name, preview, note, originator and the git state from the rollout. */
void thread_restore_origin(const struct thread_load *load, struct thread *thread);
/* Sets only the git state, which the rollout of a running thread contains but the thread does not. */
void thread_restore_git(const struct thread_load *load, struct thread *thread);
/* Sets the token usage and reports it to one client (NULL: to none). */
void thread_restore_usage(const struct thread_load *load, struct thread *thread, struct connection *connection);

#endif
