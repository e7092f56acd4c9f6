/* A patch takes two jobs on worker threads, with the approval in between: the first reads the files and plans the
 * changes, the second writes them. Exactly the approved changes are written: the commit fails if a file has changed
 * meanwhile. In an environment the first job takes place twice: it lists the files, and plans when they have been read;
 * the environment's server does the work of the second. */
#include "tool/tool_patch.h"

#include <inttypes.h>

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
#include "remote/remote_start.h"
#include "sandbox/sandbox.h"
#include "tool/tool_impl.h"
#include "tool/tool_patch_away.h"

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
	bool was_asked;          /* time has passed since the files were read */
	bool is_free;            /* the user has approved it, wherever its files are */
	struct patch_away *away; /* NULL: the files are on this machine */
	bool has_texts;          /* its files have been read */
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
	patch_away_destroy(run->away);
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

static void report_commit(struct patch_run *run, bool success)
{
	auto_buf struct buf result, text;
	buf_init(&result, LIMIT_TOOL_OUTPUT);
	buf_init(&text, LIMIT_TOOL_OUTPUT + 4 * KIB);
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

static void on_committed(void *self)
{
	struct patch_run *run = self;
	if (came_back(run))
		report_commit(run, run->status == 0);
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

/* Returns the policy about the folder of the call. */
static struct sandbox_policy policy_of(const struct patch_run *run)
{
	struct sandbox_policy policy = *tool_host_policy(run->call->host, run->call->environment);
	policy.cwd = run->call->cwd;
	return policy;
}

static void write_files(struct patch_run *run)
{
	const struct sandbox_policy policy = policy_of(run);
	run->is_committing = true;
	if (run->away)
		patch_away_commit(run->away, run->plan, &policy, run->is_free, run->was_asked);
	else
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

static bool all_inside(const struct patch_run *run)
{
	size_t count;
	const struct patch_change *changes = patch_plan_changes(run->plan, &count);
	const struct sandbox_policy policy = policy_of(run);
	bool (*can_write)(const struct sandbox_policy *, const char *) =
		run->away ? remote_can_write : sandbox_can_write;
	for (size_t i = 0; i < count; i++) {
		if (!can_write(&policy, changes[i].real_path) ||
		    (changes[i].real_move_path && !can_write(&policy, changes[i].real_move_path)))
			return false;
	}
	return true;
}

/* Appends the key of an approval for the session, which is given per file, so that the next patch of the same file
 * needs no request. */
static void path_key(const struct tool_call *call, const char *path, struct buf *out)
{
	buf_clear(out);
	buf_printf(out, "patch\n%s", path);
	if (call->environment)
		buf_printf(out, "\n%" PRIu64, call->environment->number);
}

/* Remembers that the path is approved; otherwise returns whether it was before. */
static bool pass(const struct tool_call *call, const char *path, bool remembers, struct buf *key)
{
	path_key(call, path, key);
	if (key->over)
		return false;
	if (remembers)
		call->host->remember(call->host, buf_str(key));
	return remembers || call->host->is_approved(call->host, buf_str(key));
}

/* Passes the paths of all changes; false after the first one that was not approved. */
static bool pass_all(const struct patch_run *run, bool remembers)
{
	auto_buf struct buf key;
	size_t count;
	const struct patch_change *changes = patch_plan_changes(run->plan, &count);
	bool is_approved = true;
	buf_init(&key, 64 * KIB);
	for (size_t i = 0; i < count && (is_approved || remembers); i++) {
		const struct patch_change *it = &changes[i];
		is_approved = pass(run->call, it->real_path, remembers, &key) &&
		              (!it->real_move_path || pass(run->call, it->real_move_path, remembers, &key));
	}
	return is_approved;
}

static void on_answer(struct tool_call *call, const void *answer)
{
	struct patch_run *run = call->state;
	const struct review_decision *decision = answer;
	if (decision->tag == review_decision_approved_for_session)
		pass_all(run, true);
	if (decision->tag == review_decision_abort)
		call->host->interrupt(call->host);
	if (decision->tag == review_decision_abort || decision->tag == review_decision_denied) {
		emit_end(run, false, STR(""), STR(PATCH_DECLINED));
		finish(run, false, STR(PATCH_DECLINED));
	} else {
		run->is_free = run->was_asked = true;
		commit(run);
	}
}

/* Requests approval. patch_apply_begin is emitted before, so that clients can display the changes. */
static void ask(struct patch_run *run)
{
	struct tool_call *call = run->call;
	struct patch_view view;
	auto_buf struct buf reason;
	buf_init(&reason, LIMIT_LINE);
	emit_begin(run);
	patch_view_init(&view, run->plan);
	bool is_named = run->away || call->host->further_count;
	buf_printf(&reason, "The files are in the environment `%.*s`.", STR_ARG(environment_id(call->environment)));
	struct ev_patch_approval event = {
		.call_id = call->call_id,
		.turn_id = call->turn_id,
		.reason = is_named ? buf_str(&reason) : STR_NONE,
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
	bool is_read_only = tool_host_policy(host, run->call->environment)->mode == sandbox_mode_read_only;
	run->is_auto_approved = policy->tag != ask_for_approval_untrusted && all_inside(run);
	run->is_free = !run->is_auto_approved && pass_all(run, false);
	if (run->is_auto_approved || run->is_free) {
		tool_call_note_allowed(run->call, run->is_free);
		commit(run);
	} else if (approval_may_ask(policy, QUESTION_sandbox))
		ask(run);
	else
		reject(run, is_read_only ? "writing is blocked by read-only sandbox; rejected by user approval settings"
		                         : "writing outside of the project; rejected by user approval settings");
}

/* ---- the plan ---- */

static void plan_job(void *self)
{
	struct patch_run *run = self;
	if (!run->is_parsed && patch_parse(&run->patch, str_n(run->text, run->text_len), &run->err) != 0)
		return;
	run->is_parsed = true;
	if (run->away && !run->has_texts)
		best_effort(patch_away_list(run->away, &run->patch, run->cwd, &run->err)); /* err has its failure */
	else
		run->plan = patch_plan_create(&run->patch, run->cwd, run->away ? patch_away_texts(run->away) : NULL,
		                              &run->err);
}

static void fail_plan(struct patch_run *run)
{
	auto_buf struct buf text;
	static const char failed[] = "apply_patch verification failed: ";
	buf_init(&text, LIMIT_TOOL_OUTPUT);
	buf_append_c(&text, failed);
	patch_error_for_model(&run->err, &text);
	tool_call_report_refusal(run->call, STR("The patch was not applied"), str_skip(buf_str(&text), strlen(failed)));
	finish(run, false, buf_str(&text));
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
	if (run->away && !run->has_texts && !run->err.code) {
		patch_away_read(run->away);
		return;
	}
	fail_plan(run);
}

/* The server has read the files, or has written them. */
static void on_away(void *self)
{
	struct patch_run *run = self;
	run->has_texts = true;
	if (run->is_committing)
		report_commit(run, !run->err.code);
	else if (run->err.code)
		fail_plan(run);
	else
		work(run, plan_job, on_planned);
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

/* Relative names in the patch are below cwd. Cancelling the call does not interrupt a commit on this
 * machine. */
static void start(struct tool_call *call, struct str text, const char *cwd)
{
	struct patch_run *run = xnew(struct patch_run);
	run->call = call;
	list_init(&run->wait.link);
	run->text = str_dup(text);
	run->text_len = text.len;
	run->cwd = xstrdup(cwd);
	if (call->environment)
		run->away = patch_away_create(call->environment, &run->err, on_away, run);
	call->state = run;
	call->stop = stop;
	work(run, plan_job, on_planned);
}

void tool_apply_patch_start(struct tool_call *call)
{
	const struct args_apply_patch *args = call->args;
	struct str text = args->input;
	if (tool_call_choose(call, patch_away_cut_id(&call->arena, &text)))
		start(call, text, call->cwd);
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
	if (command.kind == PATCH_COMMAND_APPLY) {
		auto_free char *folder = folder_below(call->cwd, workdir);
		auto_free char *cwd = folder_below(folder, command.folder);
		start(call, command.patch, cwd);
	} else if (command.kind == PATCH_COMMAND_BARE) {
		tool_call_finish(call, false, STR(PATCH_COMMAND_BARE_TEXT));
	}
	vec_finish(&words);
	return command.kind != PATCH_COMMAND_NONE;
}
