/* A patch takes two jobs on worker threads, with the approval in between: the first reads the files and plans the
 * changes, the second writes them. Exactly the approved changes are written: the commit fails if a file has changed
 * meanwhile. */
#include "tool/tool_patch.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "patch/patch_apply.h"
#include "patch/patch_command.h"
#include "patch/patch_error.h"
#include "patch/patch_limits.h"
#include "patch/patch_plan.h"
#include "protocol/message/approval.h"
#include "remote/environment.h"
#include "sandbox/sandbox.h"
#include "tool/tool_impl.h"

enum { DIFF_CONTEXT = 1 };

/* A patch's changes as events show them: path to add, delete or update. Owns the diffs; points into the plan. */
struct patch_view {
	struct str *paths;
	struct file_change *changes;
	size_t count;
	struct arena arena;
};

/* Updates are shown as hunks with one line of context; added and deleted files in full. */
static void show_update(struct patch_view *view, const struct patch_change *change, struct file_change *ret)
{
	auto_buf struct buf diff;
	buf_init(&diff, (size_t)2 * LIMIT_PATCH_FILE);
	patch_change_diff(change, DIFF_CONTEXT, &diff);
	struct file_update *update = arena_new(&view->arena, struct file_update);
	update->unified_diff = arena_str(&view->arena, buf_str(&diff));
	update->move_path = str_of(change->move_path);
	*ret = (struct file_change){.tag = file_change_update, .update = update};
}

static void show(struct patch_view *view, const struct patch_change *change, struct file_change *ret)
{
	if (change->kind == PATCH_UPDATE) {
		show_update(view, change, ret);
	} else if (change->kind == PATCH_ADD) {
		struct file_add *add = arena_new(&view->arena, struct file_add);
		add->content = patch_change_new(change);
		*ret = (struct file_change){.tag = file_change_add, .add = add};
	} else {
		struct file_delete *gone = arena_new(&view->arena, struct file_delete);
		gone->content = patch_change_old(change);
		*ret = (struct file_change){.tag = file_change_delete, .delete = gone};
	}
}

static void patch_view_init(struct patch_view *view, const struct patch_plan *plan)
{
	*view = (struct patch_view){0};
	const struct patch_change *changes = patch_plan_changes(plan, &view->count);
	view->paths = arena_array(&view->arena, struct str, view->count);
	view->changes = arena_array(&view->arena, struct file_change, view->count);
	for (size_t i = 0; i < view->count; i++) {
		view->paths[i] = str_of(changes[i].path);
		show(view, &changes[i], &view->changes[i]);
	}
}

static void patch_view_finish(struct patch_view *view)
{
	arena_finish(&view->arena);
}

struct patch_run {
	struct tool_call *call; /* NULL after the call was cancelled */
	char *text;
	size_t text_len;
	char *cwd;
	bool is_working; /* a worker uses the struct, so it must not be freed */
	bool is_parsed;
	bool is_begun;      /* patch_apply_begin was emitted */
	bool is_committing; /* files are being written */
	struct tool_wait wait;
	bool is_auto_approved;
	struct patch patch;
	struct patch_plan *plan;
	struct patch_error err;
	int status;
};

static void patch_run_destroy(struct patch_run *run)
{
	if (run->call)
		run->call->state = NULL;
	list_remove(&run->wait.link);
	patch_plan_destroy(run->plan);
	if (run->is_parsed)
		patch_finish(&run->patch);
	patch_error_finish(&run->err);
	free(run->text);
	free(run->cwd);
	free(run);
}

static void work(struct patch_run *run, worker_run_fn job, worker_done_fn done)
{
	run->is_working = true;
	worker_run(run->call->host->loop, job, done, run);
}

/* False if the call was cancelled meanwhile; the run was then freed. */
static bool came_back(struct patch_run *run)
{
	run->is_working = false;
	if (run->call)
		return true;
	patch_run_destroy(run);
	return false;
}

static void finish(struct patch_run *run, bool success, struct str text)
{
	struct tool_call *call = run->call;
	patch_run_destroy(run);
	tool_call_finish(call, success, text);
}

static void reject(struct patch_run *run, const char *reason)
{
	auto_buf struct buf text;
	buf_init(&text, 4 * KIB);
	buf_printf(&text, "patch rejected: %s", reason);
	tool_call_report_refusal(run->call, STR("The patch was not applied"), str_of(reason));
	finish(run, false, buf_str(&text));
}

/* ---- the commit ---- */

static void emit_end(struct patch_run *run, bool success, struct str out, struct str err)
{
	struct tool_call *call = run->call;
	struct patch_view view;
	patch_view_init(&view, run->plan);
	struct ev_patch_end event = {
		.call_id = call->call_id,
		.turn_id = call->turn_id,
		.standard_output = out,
		.standard_error = err,
		.success = success,
		.changes = view.changes,
		.changes_keys = view.paths,
		.changes_count = view.count,
	};
	call->host->emit(call->host, call->turn_id, EV_patch_apply_end, &event);
	patch_view_finish(&view);
	run->is_begun = false;
}

static void commit_job(void *self)
{
	struct patch_run *run = self;
	run->status = patch_plan_commit(run->plan, &run->err);
}

static void on_committed(void *self)
{
	struct patch_run *run = self;
	auto_buf struct buf result, text;
	buf_init(&result, LIMIT_TOOL_OUTPUT);
	buf_init(&text, LIMIT_TOOL_OUTPUT + 4 * KIB);
	if (!came_back(run))
		return;
	bool success = run->status == 0;
	if (success)
		patch_summary(&run->patch, &result);
	else
		patch_error_for_model(&run->err, &result);
	emit_end(run, success, success ? buf_str(&result) : STR(""), success ? STR("") : buf_str(&result));
	if (success)
		run->call->host->patched(run->call->host, run->plan);
	uint64_t tenths = (clock_now_ns() - run->call->started_ns) / 100000000u;
	buf_printf(&text, "Exit code: %d\nWall time: %llu", success ? 0 : 1, (unsigned long long)(tenths / 10));
	if (tenths % 10)
		buf_printf(&text, ".%llu", (unsigned long long)(tenths % 10));
	buf_append_c(&text, " seconds\nOutput:\n");
	buf_append_str(&text, buf_str(&result));
	finish(run, success, buf_str(&text));
}

static void emit_begin(struct patch_run *run)
{
	struct tool_call *call = run->call;
	struct patch_view view;
	patch_view_init(&view, run->plan);
	struct ev_patch_begin event = {
		.call_id = call->call_id,
		.turn_id = call->turn_id,
		.auto_approved = run->is_auto_approved,
		.changes = view.changes,
		.changes_keys = view.paths,
		.changes_count = view.count,
	};
	call->host->emit(call->host, call->turn_id, EV_patch_apply_begin, &event);
	patch_view_finish(&view);
	run->is_begun = true;
}

static void write_files(struct patch_run *run)
{
	run->is_committing = true;
	work(run, commit_job, on_committed);
}

static void on_stored(struct tool_wait *wait)
{
	write_files(container_of(wait, struct patch_run, wait));
}

static void commit(struct patch_run *run)
{
	struct tool_host *host = run->call->host;
	if (!run->is_begun)
		emit_begin(run);
	run->wait.then = on_stored;
	if (!host->settle(host, &run->wait, run->call->call_id))
		write_files(run);
}

/* ---- the decision ---- */

static bool is_inside(const struct tool_host *host, const struct patch_change *change)
{
	return sandbox_can_write(host->sandbox, change->real_path) &&
	       (!change->real_move_path || sandbox_can_write(host->sandbox, change->real_move_path));
}

static bool all_inside(const struct patch_run *run)
{
	size_t count;
	const struct patch_change *changes = patch_plan_changes(run->plan, &count);
	for (size_t i = 0; i < count; i++) {
		if (!is_inside(run->call->host, &changes[i]))
			return false;
	}
	return true;
}

/* Appends the key of an approval for the session, which is given per file, so that the next patch of the same file
 * needs no request. */
static void path_key(const char *path, struct buf *out)
{
	buf_clear(out);
	buf_printf(out, "patch\n%s", path);
}

static const char *move_target(const struct patch_change *change)
{
	return change->real_move_path ? change->real_move_path : change->real_path;
}

static bool is_approved(struct tool_host *host, const char *path, struct buf *key)
{
	path_key(path, key);
	return !key->over && host->is_approved(host, buf_str(key));
}

static void remember(struct tool_host *host, const char *path, struct buf *key)
{
	path_key(path, key);
	if (!key->over)
		host->remember(host, buf_str(key));
}

static bool all_approved_before(const struct patch_run *run)
{
	auto_buf struct buf key;
	size_t count;
	const struct patch_change *changes = patch_plan_changes(run->plan, &count);
	struct tool_host *host = run->call->host;
	buf_init(&key, 64 * KIB);
	for (size_t i = 0; i < count; i++) {
		if (!is_approved(host, changes[i].real_path, &key) ||
		    !is_approved(host, move_target(&changes[i]), &key))
			return false;
	}
	return true;
}

static void remember_all(const struct patch_run *run)
{
	auto_buf struct buf key;
	size_t count;
	const struct patch_change *changes = patch_plan_changes(run->plan, &count);
	struct tool_host *host = run->call->host;
	buf_init(&key, 64 * KIB);
	for (size_t i = 0; i < count; i++) {
		remember(host, changes[i].real_path, &key);
		remember(host, move_target(&changes[i]), &key);
	}
}

static void on_answer(struct tool_call *call, const void *answer)
{
	struct patch_run *run = call->state;
	const struct review_decision *decision = answer;
	if (decision->tag == review_decision_approved_for_session)
		remember_all(run);
	if (decision->tag == review_decision_abort)
		call->host->interrupt(call->host);
	if (decision->tag == review_decision_abort || decision->tag == review_decision_denied) {
		emit_end(run, false, STR(""), STR(PATCH_DECLINED));
		finish(run, false, STR(PATCH_DECLINED));
	} else {
		commit(run);
	}
}

/* Requests approval. patch_apply_begin is emitted before, so that clients can display the changes. */
static void ask(struct patch_run *run)
{
	struct tool_call *call = run->call;
	struct patch_view view;
	emit_begin(run);
	patch_view_init(&view, run->plan);
	struct ev_patch_approval event = {
		.call_id = call->call_id,
		.turn_id = call->turn_id,
		.changes = view.changes,
		.changes_keys = view.paths,
		.changes_count = view.count,
	};
	call->host->ask(call->host, call, EV_apply_patch_approval_request, &event, on_answer);
	patch_view_finish(&view);
}

static void decide(struct patch_run *run)
{
	const struct tool_host *host = run->call->host;
	const struct ask_for_approval *policy = host->approval_policy;
	bool is_read_only = host->sandbox->mode == sandbox_mode_read_only;
	run->is_auto_approved = policy->tag != ask_for_approval_untrusted && all_inside(run);
	if (run->is_auto_approved || all_approved_before(run))
		commit(run);
	else if (approval_may_ask(policy, QUESTION_sandbox))
		ask(run);
	else
		reject(run, is_read_only ? "writing is blocked by read-only sandbox; rejected by user approval settings"
		                         : "writing outside of the project; rejected by user approval settings");
}

/* ---- the plan ---- */

static void plan_job(void *self)
{
	struct patch_run *run = self;
	run->status = patch_parse(&run->patch, str_n(run->text, run->text_len), &run->err);
	if (run->status != 0)
		return;
	run->is_parsed = true;
	run->plan = patch_plan_create(&run->patch, run->cwd, &run->err);
}

static void on_planned(void *self)
{
	struct patch_run *run = self;
	if (!came_back(run))
		return;
	if (run->is_parsed && run->patch.hunks.count == 0) {
		reject(run, "empty patch");
		return;
	}
	if (run->plan) {
		decide(run);
		return;
	}
	auto_buf struct buf text;
	static const char failed[] = "apply_patch verification failed: ";
	buf_init(&text, LIMIT_TOOL_OUTPUT);
	buf_append_c(&text, failed);
	patch_error_for_model(&run->err, &text);
	tool_call_report_refusal(run->call, STR("The patch was not applied"), str_skip(buf_str(&text), strlen(failed)));
	finish(run, false, buf_str(&text));
}

/* Cancels the run. If its job is on a worker thread, it is freed when the job returns. */
static void stop(struct tool_call *call)
{
	struct patch_run *run = call->state;
	if (!run)
		return;
	if (run->is_begun)
		emit_end(run, false, STR(""),
		         run->is_committing ? STR("interrupted while it was being written; look at the files")
		                            : STR("interrupted before anything was written"));
	call->state = NULL;
	run->call = NULL;
	if (!run->is_working)
		patch_run_destroy(run);
}

/* Relative names in the patch are below cwd. Cancelling the call does not interrupt a commit. */
static void start(struct tool_call *call, struct str text, const char *cwd)
{
	struct patch_run *run = xnew(struct patch_run);
	run->call = call;
	list_init(&run->wait.link);
	run->text = str_dup(text);
	run->text_len = text.len;
	run->cwd = xstrdup(cwd);
	call->state = run;
	call->stop = stop;
	work(run, plan_job, on_planned);
}

void tool_apply_patch_start(struct tool_call *call)
{
	const struct args_apply_patch *args = call->args;
	start(call, args->input, call->host->cwd);
}

/* ---- a patch in a shell command ---- */

/* A command that is exactly a patch is checked, displayed and approved as one, and is atomic. Any other command runs
 * as a command. */
static char *folder_below(const char *base, struct str name)
{
	auto_free char *text = name.ptr ? str_dup(name) : xstrdup(".");
	auto_free char *joined = path_join(base, text);
	return path_normalize(joined);
}

bool tool_patch_intercept(struct tool_call *call, const char *const *argv, struct str workdir)
{
	VEC(struct str) words = {0};
	for (; *argv; argv++)
		vec_push(&words, str_of(*argv));
	struct patch_command command = patch_command_find(words.items, words.count);
	if (command.kind == PATCH_COMMAND_APPLY && call->host->environment) {
		tool_call_finishf(call, false,
		                  "apply_patch edits files of this machine, and the commands run in the "
		                  "environment `%.*s`. Write the files with other commands.",
		                  STR_ARG(call->host->environment->id));
	} else if (command.kind == PATCH_COMMAND_APPLY) {
		auto_free char *folder = folder_below(call->host->cwd, workdir);
		auto_free char *cwd = folder_below(folder, command.folder);
		start(call, command.patch, cwd);
	} else if (command.kind == PATCH_COMMAND_BARE) {
		tool_call_finish(call, false, STR(PATCH_COMMAND_BARE_TEXT));
	}
	vec_finish(&words);
	return command.kind != PATCH_COMMAND_NONE;
}
