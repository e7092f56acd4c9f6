/* git itself computes the difference, in steps that are rows of `steps`, on a stage that a worker prepares and
 * removes. Untracked files are added to the stage's index as empty ones, so that one diff shows everything with the
 * paths of the whole work tree. `git add` is not used, because it runs `git status` in each submodule. */
#include "workspace/git_delta.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "command/env_policy.h"
#include "process/process.h"
#include "workspace/git_stage.h"
#include "workspace/workspace_limits.h"

/* The data of the worker, which may outlive the delta. */
struct preparation {
	struct git_delta *delta; /* NULL: destroyed */
	struct loop *loop;
	char *home, *cwd;
	struct git_stage *stage;
	struct error err;
};

struct git_delta {
	struct loop *loop;
	git_delta_done_fn on_done;
	void *self;
	struct preparation *preparation; /* NULL: completed */
	struct git_stage *stage;
	size_t step;
	struct process *process;
	struct loop_timer *timer;
	struct buf out, complaint;
	struct buf untracked; /* paths, each followed by a NUL */
	size_t added;         /* bytes of untracked that have been added to the index */
	char *sha;
	bool is_too_long;
};

/* ---- steps ---- */

/* Each function handles the output of its step. */

static int on_user(struct git_delta *delta, struct error *err)
{
	return git_stage_take_user(delta->stage, buf_str(&delta->out), err);
}

/* Reads local commits and, marked with a minus, the remote commits that they are based on. If there is no output,
 * HEAD itself is on a remote. */
static int on_commits(struct git_delta *delta, struct error *err)
{
	struct str rest = buf_str(&delta->out), line;
	bool has_any = rest.len;
	while (str_next_line(&rest, &line)) {
		if (str_has_prefix(line, "-")) {
			free(delta->sha);
			delta->sha = str_dup(str_skip(line, 1));
			return 0;
		}
	}
	return has_any ? error_set(err, ERR_not_found, "no remote branch has any of its commits") : 0;
}

static int on_untracked(struct git_delta *delta, struct error *err)
{
	(void)err;
	buf_append_str(&delta->untracked, buf_str(&delta->out));
	return 0;
}

static int on_nothing(struct git_delta *delta, struct error *err)
{
	(void)delta;
	(void)err;
	return 0;
}

/* $sha is replaced by the commit once it is known. */
static const struct step {
	int (*take)(struct git_delta *delta, struct error *err);
	enum git_reads reads;
	bool may_find_nothing; /* the step may find nothing, which git reports as a failure */
	const char *argv[16];
} steps[] = {
	{on_user,
         GIT_READ_USER,
         true,
         {GIT_STAGE_WORDS, "config", "-z", "--type=path", "--get-regexp", "^core\\.(excludesfile|autocrlf|eol)$"}},
	{on_commits, GIT_READ_STAGE, false, {GIT_STAGE_WORDS, "rev-list", "--boundary", "HEAD", "--not", "--remotes"}},
	{on_untracked, GIT_READ_STAGE, false, {GIT_STAGE_WORDS, "ls-files", "-z", "--others", "--exclude-standard"}},
	{on_nothing, GIT_READ_STAGE, false, {GIT_STAGE_WORDS, "update-index", "-z", "--index-info"}},
	{NULL,
         GIT_READ_STAGE,
         false,
         {GIT_STAGE_WORDS, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty",
          "--submodule=short", "--binary", "$sha", "--"}},
};
enum { STEP_ADD = 3, STEP_LAST = countof(steps) - 1 };

static int run_step(struct git_delta *delta, struct error *err);

/* ---- files that are not tracked ---- */

/* Writes an index line for each path: an empty file. A path that ends with a slash is a nested repository and is
 * omitted. */
static void write_entries(struct git_delta *delta, struct buf *out)
{
	bool is_long = strlen(git_stage_commit(delta->stage)) == 64;
	const char *empty = is_long ? "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
	                            : "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
	struct str rest = str_skip(buf_str(&delta->untracked), delta->added);
	while (rest.len) {
		struct str path = rest;
		ptrdiff_t end = str_find_char(rest, '\0');
		path.len = end < 0 ? rest.len : (size_t)end;
		if (out->len + path.len + 128 > LIMIT_EXEC_STDIN)
			return;
		rest = str_skip(rest, path.len + (end >= 0));
		delta->added = delta->untracked.len - rest.len;
		if (path.len == 0 || str_has_suffix(path, "/"))
			continue;
		buf_printf(out, "100644 %s 0\t", empty);
		buf_append(out, path.ptr, path.len);
		buf_append_char(out, '\0');
	}
}

static int feed(struct git_delta *delta, struct error *err)
{
	auto_buf struct buf entries;
	buf_init(&entries, LIMIT_EXEC_STDIN);
	write_entries(delta, &entries);
	int status = entries.len ? process_write_stdin(delta->process, buf_str(&entries), err) : 0;
	process_close_stdin(delta->process);
	return status;
}

static bool is_added(const struct git_delta *delta)
{
	return delta->added == delta->untracked.len;
}

/* ---- what git says ---- */

static void finish(struct git_delta *delta, const struct error *err)
{
	loop_timer_stop(delta->timer);
	delta->on_done(str_of(delta->sha ? delta->sha : ""), buf_str(&delta->out), err, delta->self);
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct git_delta *delta = self;
	struct buf *to = stream == exec_stream_stdout ? &delta->out : &delta->complaint;
	if (to->len + bytes.len <= (to == &delta->out ? LIMIT_GIT_DELTA : LIMIT_GIT_COMPLAINT))
		buf_append_str(to, bytes);
	else if (to == &delta->out)
		delta->is_too_long = true;
	if (delta->is_too_long)
		process_kill_now(delta->process);
}

static int judge(struct git_delta *delta, const struct process_result *result, struct error *err)
{
	const struct step *step = &steps[delta->step];
	struct str rest = buf_str(&delta->complaint), line = STR_NONE;
	if (result->error) {
		*err = *result->error;
		return -(int)err->code;
	}
	if (delta->is_too_long)
		return error_set(err, ERR_limit, "git prints more than %d MiB about %s", LIMIT_GIT_DELTA / MIB,
		                 git_stage_root(delta->stage));
	if (result->exit_code == 0 || (result->exit_code == 1 && step->may_find_nothing))
		return step->take ? step->take(delta, err) : 0;
	str_next_line(&rest, &line);
	return error_set(err, ERR_not_found, "%.*s", STR_ARG(line.len ? line : STR("git failed without a message")));
}

/* Chooses the next step. The add step repeats with a part of the paths each time, and is skipped without paths. */
static void choose_next(struct git_delta *delta)
{
	if (delta->step != STEP_ADD || is_added(delta))
		delta->step++;
	if (delta->step == STEP_ADD && is_added(delta))
		delta->step++;
}

static void on_end(const struct process_result *result, void *self)
{
	struct git_delta *delta = self;
	struct error err;
	int status = judge(delta, result, &err);
	process_destroy(delta->process);
	delta->process = NULL;
	if (status == 0 && delta->step < STEP_LAST) {
		choose_next(delta);
		status = run_step(delta, &err);
		if (status == 0)
			return;
	}
	finish(delta, status == 0 ? NULL : &err);
}

static void on_late(void *self)
{
	struct git_delta *delta = self;
	struct error err;
	process_destroy(delta->process);
	delta->process = NULL;
	error_set(&err, ERR_limit, "git has not answered within %d s", LIMIT_GIT_DELTA_MS / 1000);
	finish(delta, &err);
}

static int run_step(struct git_delta *delta, struct error *err)
{
	static const struct process_handler handler = {on_output, on_end};
	const struct step *step = &steps[delta->step];
	const char *argv[countof(step->argv) + 1] = {NULL};
	auto_env struct env env;
	for (size_t i = 0; i < countof(step->argv) && step->argv[i]; i++)
		argv[i] = str_is(str_of(step->argv[i]), "$sha") ? delta->sha : step->argv[i];
	env_init(&env);
	git_stage_env(delta->stage, step->reads, &env);
	const struct process_spec spec = {
		.argv = argv,
		.env = env_vars(&env),
		.cwd = git_stage_root(delta->stage),
		.stdin_open = delta->step == STEP_ADD,
		.drain_ms = PROCESS_DRAIN_MS,
	};
	buf_clear(&delta->out);
	buf_clear(&delta->complaint);
	delta->process = process_start(delta->loop, &spec, &handler, delta, err);
	if (!delta->process)
		return -(int)err->code;
	return delta->step == STEP_ADD ? feed(delta, err) : 0;
}

/* ---- the stage ---- */

static void preparation_destroy(struct preparation *preparation)
{
	free(preparation->home);
	free(preparation->cwd);
	free(preparation);
}

static void on_prepare(void *self)
{
	struct preparation *preparation = self;
	preparation->stage = git_stage_create(preparation->home, preparation->cwd, &preparation->err);
}

static void on_remove(void *self)
{
	git_stage_destroy(self);
}

static void on_removed(void *self)
{
	(void)self;
}

static void on_prepared(void *self)
{
	struct preparation *preparation = self;
	struct git_delta *delta = preparation->delta;
	struct error err = preparation->err;
	struct git_stage *stage = preparation->stage;
	struct loop *loop = preparation->loop;
	preparation_destroy(preparation);
	if (!delta && stage)
		worker_run(loop, on_remove, on_removed, stage);
	if (!delta)
		return;
	delta->preparation = NULL;
	delta->stage = stage;
	if (stage) {
		delta->sha = xstrdup(git_stage_commit(stage));
		if (run_step(delta, &err) == 0)
			return;
	}
	finish(delta, &err);
}

/* ---- its life ---- */

struct git_delta *git_delta_create(struct loop *loop, const char *home, const char *cwd, git_delta_done_fn on_done,
                                   void *self)
{
	struct git_delta *delta = xnew(struct git_delta);
	*delta = (struct git_delta){.loop = loop, .on_done = on_done, .self = self};
	buf_init(&delta->out, LIMIT_GIT_DELTA);
	buf_init(&delta->complaint, LIMIT_GIT_COMPLAINT);
	buf_init(&delta->untracked, LIMIT_GIT_DELTA);
	delta->timer = loop_timer_create(loop, on_late, delta);
	loop_timer_start(delta->timer, LIMIT_GIT_DELTA_MS);
	delta->preparation = xnew(struct preparation);
	delta->preparation->delta = delta;
	delta->preparation->loop = loop;
	delta->preparation->home = xstrdup(home);
	delta->preparation->cwd = xstrdup(cwd);
	worker_run(loop, on_prepare, on_prepared, delta->preparation);
	return delta;
}

void git_delta_destroy(struct git_delta *delta)
{
	if (!delta)
		return;
	process_destroy(delta->process);
	loop_timer_destroy(delta->timer);
	if (delta->preparation)
		delta->preparation->delta = NULL;
	if (delta->stage)
		worker_run(delta->loop, on_remove, on_removed, delta->stage);
	buf_finish(&delta->out);
	buf_finish(&delta->complaint);
	buf_finish(&delta->untracked);
	free(delta->sha);
	free(delta);
}
