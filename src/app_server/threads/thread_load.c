/* A rollout can be hundreds of megabytes and its folder on a slow disk, so the loop reads no part of it. If the
 * client disconnects before the disk answers, the load frees itself. */
#include "app_server/threads/thread_load.h"

#include "app_server/rpc/server.h"
#include "app_server/threads/thread_fork.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config.h"
#include "loop/loop.h"
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

/* Runs on a worker, because freeing the turns of a large rollout would block the loop. */
static void load_free(struct thread_load *load)
{
	thread_fork_destroy(load->fork);
	worker_run(load->loop, on_free, on_freed, load);
}

/* Errors have the texts of codex 0.169. */
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

/* Replaces the loaded rollout by its copy. */
static void load_copy(struct thread_load *load)
{
	if (thread_fork_make(load->fork, load->home, load->reader, &load->history, &load->err) != 0) {
		if (!load->err.code)
			load->err.code = ERR_invalid;
		return;
	}
	rollout_reader_destroy(load->reader);
	load->reader = rollout_reader_create(load->fork->path, &load->err);
	if (!load->reader)
		return;
	load->err.code = ERR_none;
	thread_history_read(load->reader, &load->arena, &load->history);
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
	if (load->fork)
		load_copy(load);
	if (load->reader)
		/* one large copy in memory is enough: the engine reads the file again */
		rollout_reader_forget(load->reader);
	if (load->wants_turns && !load->err.code) {
		history_json_write(&load->history, &load->arena, &load->turns);
		best_effort(history_json_check(&load->turns, &load->err));
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
