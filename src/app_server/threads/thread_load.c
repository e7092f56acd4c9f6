/* A rollout can have hundreds of megabytes and its disk can be slow, so the loop never reads it. If the client
 * disconnects first, the load frees itself when the worker returns. */
#include "app_server/threads/thread_load.h"

#include "app_server/rpc/server.h"
#include "app_server/threads/notify.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_fork.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config.h"
#include "loop/worker.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_name.h"
#include "rollout/rollout_reader.h"

static void on_free(void *self)
{
	struct thread_load *load = self;
	rollout_reader_destroy(load->reader);
	history_json_finish(&load->turns);
	arena_finish(&load->arena);
	free(load->home);
	free(load->id);
	free(load->path);
}

static void on_freed(void *self)
{
	free(self);
}

/* Freeing hundreds of megabytes would block the loop: a worker does it. */
static void load_free(struct thread_load *load)
{
	thread_fork_destroy(load->fork);
	worker_run(load->loop, on_free, on_freed, load);
}

/* Finds the rollout; errors have the messages of codex 0.169. */
static int find(struct thread_load *load)
{
	load->path = rollout_list_find_id(load->home, str_of(load->id), &load->err);
	if (!load->path)
		return error_set(&load->err, ERR_not_found, "no rollout found for thread id %s", load->id);
	if (str_find(str_of(load->path), STR("/archived_sessions/")) < 0)
		return 0;
	return error_set(&load->err, ERR_invalid,
	                 "session %s is archived. Run `codex unarchive %s` to unarchive it first.", load->id, load->id);
}

static void find_name(struct thread_load *load)
{
	struct rollout_names names = {0};
	rollout_names_read(load->home, &names);
	load->name = arena_str(&load->arena, rollout_names_find(&names, load->reader->meta.thread_id));
	rollout_names_finish(&names);
}

static void on_work(void *self)
{
	struct thread_load *load = self;
	load->err.code = ERR_none;
	if (!load->path && find(load) != 0)
		return;
	load->reader = rollout_reader_create_for(load->path, load->fork ? ROLLOUT_ALL : ROLLOUT_EVENTS, &load->err);
	if (!load->reader)
		return;
	load->err.code = ERR_none;
	thread_history_read(load->reader, &load->arena, &load->history);
	find_name(load);
	thread_note_read(load->home, load->reader->meta.thread_id, &load->arena, &load->note);
	if (load->fork && thread_fork_make(load) != 0 && !load->err.code)
		load->err.code = ERR_invalid;
	if (load->reader)
		rollout_reader_forget(load->reader); /* the engine reads the file itself: one copy is enough */
	if (load->wants_turns && !load->err.code) {
		history_json_write(&load->history, &load->arena, &load->turns);
		history_json_check(&load->turns, &load->err);
	}
}

static void on_done(void *self)
{
	struct thread_load *load = self;
	load->is_done = true;
	if (load->is_dropped)
		load_free(load);
	else
		load->done(load, load->self);
}

struct thread_load *thread_load_create(struct app_server *server, struct str id, struct str path,
                                       struct thread_fork *fork, bool wants_turns, thread_load_done_fn done, void *self)
{
	struct thread_load *load = xnew(struct thread_load);
	load->loop = server->loop;
	load->home = xstrdup(config_home(server->config));
	load->id = str_dup(id);
	load->fork = fork;
	load->wants_turns = wants_turns;
	load->done = done;
	load->self = self;
	if (path.ptr) {
		auto_free char *name = str_dup(path);
		load->path = path_join(server->cwd, name);
	}
	worker_run(server->loop, on_work, on_done, load);
	return load;
}

void thread_load_destroy(struct thread_load *load)
{
	if (!load)
		return;
	load->is_dropped = true;
	if (load->is_done)
		load_free(load);
}

/* ---- the thread's origin, settings and usage ---- */

static void continue_policies(const struct rollout_turn *turn, struct thread_opening *opening, struct arena *arena)
{
	struct op_configure_session *session = &opening->session;
	const struct app_thread_start_params *wishes = opening->wishes;
	const struct json *json = turn->sandbox_policy.ptr ? json_parse_copy(arena, turn->sandbox_policy, NULL) : NULL;
	struct sandbox *sandbox = arena_new(arena, struct sandbox);
	if (json && !wishes->has_sandbox && !wishes->permissions.ptr &&
	    union_decode(&union_sandbox, json, arena, sandbox, NULL) == 0)
		session->sandbox_policy = sandbox;
	json = turn->approval_policy.ptr ? json_parse_copy(arena, turn->approval_policy, NULL) : NULL;
	struct ask_for_approval *policy = arena_new(arena, struct ask_for_approval);
	if (json && union_decode(&union_ask_for_approval, json, arena, policy, NULL) == 0)
		session->approval_policy = policy;
}

void thread_load_continue(const struct thread_load *load, struct thread_opening *opening, struct arena *arena)
{
	const struct rollout_turn *turn = &load->reader->turn;
	struct op_configure_session *session = &opening->session;
	int value;
	opening->cwd = turn->cwd.ptr ? turn->cwd : load->reader->meta.cwd;
	session->model = turn->model;
	continue_policies(turn, opening, arena);
	if (!opening->wishes->model.ptr && turn->effort.ptr &&
	    enum_parse(&enum_reasoning_effort, turn->effort, &value)) {
		session->has_model_reasoning_effort = true;
		session->model_reasoning_effort = (enum reasoning_effort)value;
	}
}

static struct app_git_info *git_of(const struct rollout_meta *meta, struct arena *arena)
{
	if (!meta->git_commit.ptr && !meta->git_branch.ptr && !meta->git_url.ptr)
		return NULL;
	struct app_git_info git = {meta->git_commit, meta->git_branch, meta->git_url};
	struct app_git_info *ret = arena_new(arena, struct app_git_info);
	record_copy(&record_app_git_info, &git, arena, ret);
	return ret;
}

void thread_load_tell_origin(const struct thread_load *load, struct thread *thread)
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
	thread_load_tell_git(load, thread);
}

void thread_load_tell_git(const struct thread_load *load, struct thread *thread)
{
	if (!thread->git)
		thread->git = git_of(&load->reader->meta, &thread->origin_arena);
}

void thread_load_tell_usage(const struct thread_load *load, struct thread *thread, struct connection *connection)
{
	auto_arena struct arena arena = {0};
	struct token_usage_info info = {0};
	struct str text = load->reader->token_info;
	const struct json *json = text.ptr ? json_parse(&arena, text, NULL) : NULL;
	size_t count = load->history.count;
	if (!json || !count || record_decode(&record_token_usage_info, json, &arena, &info, NULL) != 0)
		return;
	thread->told_total = info.total_token_usage->total_tokens;
	thread->told_last = info.last_token_usage->total_tokens;
	if (connection)
		notify_usage(thread, load->history.turns[count - 1].id, &info, connection);
}
