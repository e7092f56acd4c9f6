/* The engine restores the history itself, from the same file. Only settings, names and numbers are copied here. */
#include "app_server/threads/thread_restore.h"

#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread_load.h"
#include "app_server/threads/thread_open.h"
#include "base/mem.h"
#include "rollout/rollout_reader.h"

/* ---- opening ---- */

static void restore_policies(const struct rollout_turn *turn, struct thread_opening *opening, struct arena *arena)
{
	struct op_configure_session *session = &opening->session;
	const struct app_thread_start_params *params = opening->params;
	const struct json *json = turn->sandbox_policy.ptr ? json_parse_copy(arena, turn->sandbox_policy, NULL) : NULL;
	struct sandbox *sandbox = arena_new(arena, struct sandbox);
	if (json && !params->has_sandbox && !params->permissions.ptr &&
	    union_decode(&union_sandbox, json, arena, sandbox, NULL) == 0)
		session->sandbox_policy = sandbox;
	json = turn->approval_policy.ptr ? json_parse_copy(arena, turn->approval_policy, NULL) : NULL;
	int reviewer;
	if (turn->approvals_reviewer.ptr && enum_parse(&enum_approvals_reviewer, turn->approvals_reviewer, &reviewer)) {
		session->has_approvals_reviewer = true;
		session->approvals_reviewer = (enum approvals_reviewer)reviewer;
	}
	struct ask_for_approval *policy = arena_new(arena, struct ask_for_approval);
	if (json && union_decode(&union_ask_for_approval, json, arena, policy, NULL) == 0)
		session->approval_policy = policy;
}

static void add_environment(struct thread_selection *all, struct str id, struct str cwd)
{
	struct app_thread_environment *it = &all->list[all->count++];
	*it = (struct app_thread_environment){id, cwd, &it->cwd, 1};
}

/* Returns what the thread shows; the engine reads the rollout itself, and refuses one that it cannot read. */
static struct thread_selection environments_of(const struct thread_load *load, struct arena *arena)
{
	struct thread_selection all = {0};
	struct rollout_environment place;
	struct error err;
	if (!load->reader->environment.ptr ||
	    rollout_environment_decode(load->reader->environment, arena, &place, &err) != 0)
		return all;
	all.list = arena_array(arena, struct app_thread_environment, place.further_count + 1);
	add_environment(&all, place.id, place.cwd);
	for (size_t i = 0; i < place.further_count; i++)
		add_environment(&all, place.further[i].id, place.further[i].cwd);
	return all;
}

static void restore_settings(const struct thread_load *load, struct thread_opening *opening, struct arena *arena)
{
	const struct rollout_turn *turn = &load->reader->turn;
	struct op_configure_session *session = &opening->session;
	int value;
	opening->cwd = turn->cwd.ptr ? turn->cwd : load->reader->meta.cwd;
	opening->environments = environments_of(load, arena);
	session->model = turn->model;
	restore_policies(turn, opening, arena);
	if (!opening->params->model.ptr && turn->effort.ptr &&
	    enum_parse(&enum_reasoning_effort, turn->effort, &value)) {
		session->has_model_reasoning_effort = true;
		session->model_reasoning_effort = (enum reasoning_effort)value;
	}
}

void thread_restore_open(struct rpc_request *request, struct thread_load *load,
                         const struct app_thread_start_params *params, const char *refusal, thread_answer_fn answer)
{
	struct error err;
	struct app_thread_start_params *copy = arena_new(&request->arena, struct app_thread_start_params);
	struct thread_opening opening = {.params = copy, .load = load, .refusal = refusal, .answer = answer};
	*copy = *params;
	if (!copy->model_provider.ptr)
		copy->model_provider = load->reader->meta.model_provider;
	restore_settings(load, &opening, &request->arena);
	opening.session.resume_path = str_of(load->reader->path);
	if (!thread_open(request, &opening, &err))
		rpc_fail_with(request, &err);
}

/* ---- the thread's data ---- */

static struct app_git_info *git_of(const struct rollout_meta *meta, struct arena *arena)
{
	if (!meta->git_commit.ptr && !meta->git_branch.ptr && !meta->git_url.ptr)
		return NULL;
	struct app_git_info git = {meta->git_commit, meta->git_branch, meta->git_url};
	struct app_git_info *ret = arena_new(arena, struct app_git_info);
	record_copy(&record_app_git_info, &git, arena, ret);
	return ret;
}

void thread_restore_origin(const struct thread_load *load, struct thread *thread)
{
	const struct rollout_meta *meta = &load->reader->meta;
	const struct thread_history *history = &load->history;
	thread->created_at = history->created_at_ms / 1000;
	thread->updated_at = history->updated_at_ms / 1000;
	thread->preview = history->preview.len ? str_dup(history->preview) : NULL;
	thread->name = load->name.len ? str_dup(load->name) : NULL;
	thread->forked_from = meta->forked_from_id.ptr ? str_dup(meta->forked_from_id) : NULL;
	thread_set_note(thread, &load->note);
	if (meta->originator.len) {
		free(thread->originator);
		thread->originator = str_dup(meta->originator);
	}
	thread_restore_git(load, thread);
}

void thread_restore_git(const struct thread_load *load, struct thread *thread)
{
	if (!thread->git)
		thread->git = git_of(&load->reader->meta, &thread->origin_arena);
}

void thread_restore_usage(const struct thread_load *load, struct thread *thread, struct connection *connection)
{
	auto_arena struct arena arena = {0};
	struct token_usage_info info = {0};
	struct str text = load->reader->token_info;
	const struct json *json = text.ptr ? json_parse(&arena, text, NULL) : NULL;
	size_t count = load->history.count;
	if (!json || !count || record_decode(&record_token_usage_info, json, &arena, &info, NULL) != 0)
		return;
	thread->usage_total = info.total_token_usage->total_tokens;
	thread->usage_last = info.last_token_usage->total_tokens;
	if (connection)
		thread_notify_usage(thread, load->history.turns[count - 1].id, &info, connection);
}
