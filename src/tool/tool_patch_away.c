/* One request is sent after the other, and each answer leads to the next. An undo reads each file before it writes
 * it: a write that failed may have changed nothing, and then there is nothing that could fail again. */
#include "tool/tool_patch_away.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "patch/patch_error.h"
#include "remote/environment.h"
#include "remote/remote_files.h"
#include "sandbox/sandbox_policy.h"

/* The request under way. */
enum stage { READ, CHECK, MAKE_FOLDER, WRITE, LOOK, PUT_BACK };

struct step {
	const char *path;
	struct str text, old; /* STR_NONE: there is no file after it, or before it */
};

struct patch_away {
	struct environment *environment;
	struct remote_files *files;
	struct patch_error *err;
	patch_away_fn on_done;
	void *self;
	struct patch_texts texts;
	size_t bytes; /* of the texts */
	VEC(struct step) steps;
	enum stage stage;
	bool is_approved;
	size_t at; /* the text or step that the request is about */
	struct arena arena;
};

struct patch_away *patch_away_create(struct environment *environment, struct patch_error *err, patch_away_fn on_done,
                                     void *self)
{
	struct patch_away *away = xnew(struct patch_away);
	away->environment = environment_ref(environment);
	away->err = err;
	away->on_done = on_done;
	away->self = self;
	return away;
}

void patch_away_destroy(struct patch_away *away)
{
	if (!away)
		return;
	remote_files_close(away->files);
	vec_for_each(it, &away->texts.list)
		str_free(&it->text);
	vec_finish(&away->texts.list);
	vec_finish(&away->steps);
	environment_unref(away->environment);
	arena_finish(&away->arena);
	free(away);
}

int patch_away_list(struct patch_away *away, const struct patch *patch, const char *cwd, struct patch_error *err)
{
	return patch_texts_list(&away->texts, patch, cwd, &away->arena, err);
}

const struct patch_texts *patch_away_texts(const struct patch_away *away)
{
	return &away->texts;
}

static void finish(struct patch_away *away)
{
	remote_files_close(steal(away->files));
	away->on_done(away->self);
}

/* ---- reading ---- */

static void read_next(struct patch_away *away)
{
	if (away->at < away->texts.list.count)
		remote_files_read(away->files, away->texts.list.items[away->at].path);
	else
		finish(away);
}

static void fail_read(struct patch_away *away, const struct error *err)
{
	patch_error_set(away->err, err->code, "Failed to read %s: %s", away->texts.list.items[away->at].path,
	                err->text);
	finish(away);
}

static void take_text(struct patch_away *away, struct str content)
{
	struct patch_text *text = &away->texts.list.items[away->at++];
	away->bytes += content.len;
	if (content.ptr)
		text->text = str_copy(content);
	if (away->bytes <= LIMIT_ENVIRONMENT_FILES) {
		read_next(away);
		return;
	}
	patch_error_set(away->err, ERR_limit,
	                "the files of this patch are larger than %d bytes together; send it in parts",
	                LIMIT_ENVIRONMENT_FILES);
	finish(away);
}

/* ---- writing ---- */

static void add_step(struct patch_away *away, const char *path, struct str text, struct str old)
{
	vec_push(&away->steps, (struct step){path, text, old});
}

static void add_writes(struct patch_away *away, const struct patch_change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct patch_change *it = &changes[i];
		if (it->move_path)
			add_step(away, it->move_path, patch_change_new(it), patch_change_overwritten(it));
		else if (it->kind != PATCH_DELETE)
			add_step(away, it->path, patch_change_new(it), patch_change_old(it));
	}
}

static void add_removals(struct patch_away *away, const struct patch_change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (changes[i].kind == PATCH_DELETE || changes[i].move_path)
			add_step(away, changes[i].path, STR_NONE, patch_change_old(&changes[i]));
}

static const char *folder_of(struct patch_away *away, const char *path)
{
	return arena_cstr(&away->arena, path_dir(path));
}

/* Sends the request of the stage. */
static void request(struct patch_away *away, enum stage stage)
{
	const struct step *step = &away->steps.items[away->at];
	struct str text = stage == PUT_BACK ? step->old : step->text;
	away->stage = stage;
	if (stage == LOOK)
		remote_files_read(away->files, step->path);
	else if (stage == MAKE_FOLDER)
		remote_files_make_folder(away->files, folder_of(away, step->path), !away->is_approved);
	else if (text.ptr)
		remote_files_write(away->files, step->path, text);
	else
		remote_files_remove(away->files, step->path);
}

static void write_next(struct patch_away *away)
{
	if (away->at == away->steps.count) {
		finish(away);
		return;
	}
	const struct step *step = &away->steps.items[away->at];
	request(away, step->text.ptr && !step->old.ptr ? MAKE_FOLDER : WRITE);
}

static void undo_next(struct patch_away *away)
{
	if (away->at-- > 0)
		request(away, LOOK);
	else
		finish(away);
}

static void fail_write(struct patch_away *away, const struct error *err)
{
	const struct step *step = &away->steps.items[away->at];
	patch_error_set(away->err, err->code, "%s %s: %s",
	                step->text.ptr ? "Failed to write file" : "Failed to delete file", step->path, err->text);
	away->at++; /* the failed step may have changed the file */
	undo_next(away);
}

static bool is_as_before(struct str now, struct str old)
{
	return now.ptr && old.ptr ? str_eq(now, old) : !now.ptr && !old.ptr;
}

static void take_look(struct patch_away *away, struct str content, const struct error *err)
{
	const struct step *step = &away->steps.items[away->at];
	if (!err && is_as_before(content, step->old))
		undo_next(away);
	else
		request(away, PUT_BACK);
}

static void take_back(struct patch_away *away, const struct error *err)
{
	if (err)
		patch_error_note(away->err, "Could not put back what was in %s before the patch.",
		                 away->steps.items[away->at].path);
	undo_next(away);
}

/* Compares a file with what the plan was made from. */
static void take_check(struct patch_away *away, struct str content, const struct error *err)
{
	const struct patch_text *text = &away->texts.list.items[away->at];
	if (!err && is_as_before(content, text->text)) {
		away->at++;
		if (away->at < away->texts.list.count) {
			read_next(away);
			return;
		}
		away->at = 0;
		write_next(away);
		return;
	}
	patch_error_set(away->err, ERR_busy, "%s changed after the patch was checked; nothing was written", text->path);
	finish(away);
}

/* ---- the link ---- */

static void on_answer(struct str content, const struct error *err, void *self)
{
	struct patch_away *away = self;
	bool is_read = away->stage == READ || away->stage == CHECK || away->stage == LOOK;
	if (is_read && err && err->code == ERR_not_found)
		err = NULL; /* content is STR_NONE */
	if (away->stage == LOOK)
		take_look(away, content, err);
	else if (away->stage == PUT_BACK)
		take_back(away, err);
	else if (away->stage == CHECK && !err)
		take_check(away, content, err);
	else if (is_read && err)
		fail_read(away, err);
	else if (away->stage == READ)
		take_text(away, content);
	else if (err)
		fail_write(away, err);
	else if (away->stage == MAKE_FOLDER)
		request(away, WRITE);
	else {
		away->at++;
		write_next(away);
	}
}

/* False if there can be no link; on_done was then called. */
static bool open_link(struct patch_away *away, const struct sandbox_policy *policy, enum stage stage)
{
	struct error err;
	away->stage = stage;
	away->at = 0;
	away->files = remote_files_open(away->environment, policy, on_answer, away, &err);
	if (away->files)
		return true;
	patch_error_set(away->err, err.code, "%s", err.text);
	away->on_done(away->self);
	return false;
}

void patch_away_read(struct patch_away *away)
{
	if (open_link(away, NULL, READ))
		read_next(away);
}

/* Returns a policy that lets the folders of the steps be written, and nothing else. */
static struct sandbox_policy approved_policy(struct patch_away *away, const struct sandbox_policy *policy)
{
	const char **roots = arena_array(&away->arena, const char *, away->steps.count + 1);
	struct sandbox_policy ret = *policy;
	if (!sandbox_is_needed(policy->mode))
		return ret;
	for (size_t i = 0; i < away->steps.count; i++)
		roots[i] = folder_of(away, away->steps.items[i].path);
	ret.mode = sandbox_mode_workspace_write;
	ret.exclude_cwd = ret.exclude_tmpdir = ret.exclude_slash_tmp = true;
	ret.writable_roots = roots;
	ret.writable_root_count = away->steps.count;
	return ret;
}

/* Fails before anything is written, so that a text that is too large needs no undo. */
static int check_sizes(struct patch_away *away)
{
	vec_for_each(it, &away->steps)
		if (it->text.len > LIMIT_ENVIRONMENT_FILE)
			return patch_error_set(away->err, ERR_limit,
			                       "Failed to write file %s: it is larger than %d bytes", it->path,
			                       LIMIT_ENVIRONMENT_FILE);
	return 0;
}

void patch_away_commit(struct patch_away *away, const struct patch_plan *plan, const struct sandbox_policy *policy,
                       bool is_approved, bool checks)
{
	size_t count;
	const struct patch_change *changes = patch_plan_changes(plan, &count);
	add_writes(away, changes, count);
	add_removals(away, changes, count);
	if (check_sizes(away) != 0) {
		away->on_done(away->self);
		return;
	}
	struct sandbox_policy approved = approved_policy(away, policy);
	away->is_approved = is_approved;
	if (!open_link(away, is_approved ? &approved : policy, checks ? CHECK : WRITE))
		return;
	if (checks)
		read_next(away);
	else
		write_next(away);
}

/* ---- the place that a patch names ---- */

struct str patch_away_cut_id(struct arena *arena, struct str *text)
{
	static const char mark[] = "*** Environment ID: ";
	struct str rest = str_trim(*text), first, line;
	if (!str_next_line(&rest, &first) || !str_next_line(&rest, &line) || !str_cut_prefix(&line, mark))
		return STR_NONE;
	*text = str_of(arena_printf(arena, "%.*s\n%.*s", STR_ARG(first), STR_ARG(rest)));
	return str_trim(line);
}
