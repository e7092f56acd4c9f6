/* git knows best what differs, so it is asked, in steps, each a row of `steps`. Files that are not tracked are put into
 * a copy of the index, as to be added later: one diff then tells of all, with the paths of the whole work tree. What a
 * repository's configuration would have git run (hooks, a watcher, drivers of diffs) is switched off; filters of file
 * contents are not, for without them every file would differ. */
#include "workspace/git_delta.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/env_policy.h"
#include "process/process.h"

struct git_delta {
	struct loop *loop;
	git_delta_done_fn on_done;
	void *self;
	size_t step;
	struct process *process;
	struct loop_timer *timer;
	struct env env;
	struct buf out, complaint;
	char *root;  /* where git runs: first the given folder, then that of the work tree */
	char *index; /* the repository's */
	char *copy;  /* of it; NULL: none yet */
	char *sha;
	bool is_too_long;
};

/* ---- steps ---- */

#define GIT "git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"

/* Each takes what its step has printed. */

static int take_lines(struct git_delta *delta, struct str *rest, char **ret[], size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct str line;
		if (!str_next_line(rest, &line) || !line.len)
			return error_set(err, ERR_internal, "git has told too little of %s", delta->root);
		free(*ret[i]);
		*ret[i] = str_dup(line);
	}
	return 0;
}

static int on_place(struct git_delta *delta, struct error *err)
{
	auto_free char *folder = NULL;
	struct str rest = buf_str(&delta->out);
	char **lines[] = {&delta->root, &folder, &delta->sha};
	int status = take_lines(delta, &rest, lines, countof(lines), err);
	if (status == 0)
		delta->index = path_join(folder, "index");
	return status;
}

/* Commits of this side alone, and behind a minus those that they stand on. None: HEAD itself is known elsewhere. */
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

static int on_nothing(struct git_delta *delta, struct error *err)
{
	(void)delta;
	(void)err;
	return 0;
}

/* $index, $copy and $sha stand for what is known by then. */
static const struct step {
	int (*take)(struct git_delta *delta, struct error *err);
	const char *argv[16];
} steps[] = {
	{on_place, {GIT, "rev-parse", "--show-toplevel", "--absolute-git-dir", "HEAD"}},
	{on_commits, {GIT, "rev-list", "--boundary", "HEAD", "--not", "--remotes"}},
	{on_nothing, {"cp", "--", "$index", "$copy"}},
	{on_nothing, {GIT, "add", "--intent-to-add", "."}},
	{NULL, {GIT, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--binary", "$sha", "--"}},
};
enum { STEP_COPY = 2, STEP_LAST = countof(steps) - 1 };

static int run_step(struct git_delta *delta, struct error *err);

static int make_copy(struct git_delta *delta, struct error *err)
{
	const char *folder = env_own("TMPDIR");
	delta->copy = path_join(folder && *folder == '/' ? folder : "/tmp", "codex-index-XXXXXX");
	auto_close int fd = mkostemp(delta->copy, O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, errno, "cannot create %s", delta->copy);
	env_set(&delta->env, STR("GIT_INDEX_FILE"), str_of(delta->copy));
	return 0;
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
	struct str rest = buf_str(&delta->complaint), line = STR_NONE;
	if (delta->is_too_long)
		return error_set(err, ERR_limit, "git has more than %d MiB to say of %s", LIMIT_GIT_DELTA / MIB,
		                 delta->root);
	if (result->exit_code == 0)
		return delta->step == STEP_LAST ? 0 : steps[delta->step].take(delta, err);
	str_next_line(&rest, &line);
	return error_set(err, ERR_not_found, "%.*s", STR_ARG(line.len ? line : STR("git has failed without a word")));
}

static void on_end(const struct process_result *result, void *self)
{
	struct git_delta *delta = self;
	struct error err;
	int status = judge(delta, result, &err);
	process_destroy(delta->process);
	delta->process = NULL;
	if (status == 0 && delta->step < STEP_LAST) {
		delta->step++;
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

static const char *fill_in(const struct git_delta *delta, const char *word)
{
	struct str name = str_of(word);
	if (str_is(name, "$index"))
		return delta->index;
	if (str_is(name, "$copy"))
		return delta->copy;
	return str_is(name, "$sha") ? delta->sha : word;
}

static int run_step(struct git_delta *delta, struct error *err)
{
	static const struct process_handler handler = {on_output, on_end};
	const char *argv[countof(steps->argv)] = {NULL};
	if (delta->step == STEP_COPY && make_copy(delta, err) != 0)
		return -(int)err->code;
	for (size_t i = 0; i < countof(argv) && steps[delta->step].argv[i]; i++)
		argv[i] = fill_in(delta, steps[delta->step].argv[i]);
	const struct process_spec spec = {
		.argv = argv,
		.env = env_vars(&delta->env),
		.cwd = delta->root,
		.drain_ms = PROCESS_DRAIN_MS,
	};
	buf_clear(&delta->out);
	buf_clear(&delta->complaint);
	delta->process = process_start(delta->loop, &spec, &handler, delta, err);
	return delta->process ? 0 : -(int)err->code;
}

/* ---- its life ---- */

static void fill_env(struct env *env)
{
	static const char *const foreign[] = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"};
	const struct env_policy everything = {.ignore_default_excludes = true};
	env_init(env);
	env_policy_apply(&everything, NULL, env);
	for (size_t i = 0; i < countof(foreign); i++)
		env_unset(env, str_of(foreign[i]));
	env_set(env, STR("GIT_OPTIONAL_LOCKS"), STR("0"));
	env_set(env, STR("LC_ALL"), STR("C"));
}

struct git_delta *git_delta_create(struct loop *loop, const char *cwd, git_delta_done_fn on_done, void *self,
                                   struct error *err)
{
	struct git_delta *delta = xnew(struct git_delta);
	*delta = (struct git_delta){.loop = loop, .on_done = on_done, .self = self, .root = xstrdup(cwd)};
	buf_init(&delta->out, LIMIT_GIT_DELTA);
	buf_init(&delta->complaint, LIMIT_GIT_COMPLAINT);
	fill_env(&delta->env);
	delta->timer = loop_timer_create(loop, on_late, delta);
	loop_timer_start(delta->timer, LIMIT_GIT_DELTA_MS);
	if (run_step(delta, err) == 0)
		return delta;
	git_delta_destroy(delta);
	return NULL;
}

void git_delta_destroy(struct git_delta *delta)
{
	if (!delta)
		return;
	process_destroy(delta->process);
	loop_timer_destroy(delta->timer);
	if (delta->copy)
		unlink(delta->copy);
	env_finish(&delta->env);
	buf_finish(&delta->out);
	buf_finish(&delta->complaint);
	free(delta->root);
	free(delta->index);
	free(delta->copy);
	free(delta->sha);
	free(delta);
}
