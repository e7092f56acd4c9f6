/* The plan has one record per file with its state before and after; every hunk changes the state after. A hunk thus
 * sees the result of the hunks before it, and the user is shown the net effect. Content remains a list of edits of
 * the original as long as only one hunk has changed it, so a small change to a large file is neither copied nor
 * diffed. */
#include "patch/patch_plan.h"

#include <errno.h>

#include "base/host.h"
#include "base/mem.h"
#include "patch/diff.h"
#include "patch/patch_error.h"
#include "patch/patch_limits.h"
#include "patch/patch_plan_priv.h"
#include "patch/patch_update.h"

static const char read_update[] = "Failed to read file to update";
static const char read_other[] = "Failed to read";

static uint16_t *slot_of(struct patch_plan *plan, const char *path)
{
	for (size_t at = str_hash_keyed(str_of(path), plan->key);; at++) {
		uint16_t *slot = &plan->slots[at % PATCH_FILE_SLOTS];
		if (*slot == 0 || strcmp(plan->files.items[*slot - 1]->path, path) == 0)
			return slot;
	}
}

static struct patch_file *find_file(struct patch_plan *plan, const char *path)
{
	uint16_t *slot = slot_of(plan, path);
	return *slot ? plan->files.items[*slot - 1] : NULL;
}

static int count_bytes(struct patch_plan *plan, size_t bytes, struct patch_error *err)
{
	plan->bytes += bytes;
	if (plan->bytes <= LIMIT_PATCH_BYTES)
		return 0;
	return patch_error_set(err, ERR_limit,
	                       "the files of this patch are larger than %d bytes together; send it in parts",
	                       LIMIT_PATCH_BYTES);
}

/* Rejects two names of one file: each change would be computed from content that the other overwrites. */
static int check_alias(struct patch_plan *plan, const struct patch_file *file, struct patch_error *err)
{
	for (size_t i = 0; i < plan->files.count; i++) {
		const struct patch_file *other = plan->files.items[i];
		if (other->was_there && other->old.st.st_dev == file->old.st.st_dev &&
		    other->old.st.st_ino == file->old.st.st_ino)
			return patch_error_set(err, ERR_invalid,
			                       "%s and %s are the same file; change it under one of its names",
			                       other->path, file->path);
	}
	return 0;
}

static struct patch_text *find_text(const struct patch_texts *texts, const char *path)
{
	vec_for_each(it, &texts->list)
		if (strcmp(it->path, path) == 0)
			return it;
	return NULL;
}

static int read_text(const struct patch_plan *plan, struct patch_file *file, const char *what, struct patch_error *err)
{
	const struct patch_text *it = find_text(plan->texts, file->path);
	if (!it || !it->text.ptr)
		return patch_error_sys(err, ENOENT, "%s %s", what, file->path);
	patch_content_copy(&file->old, it->text);
	return 0;
}

/* Reads the file; at this point a missing file is not an error. */
static int load(struct patch_plan *plan, struct patch_file *file, const char *what, struct patch_error *err)
{
	auto_patch_error struct patch_error why = {0};
	int status = plan->texts ? read_text(plan, file, what, &why)
	                         : patch_content_read(&file->old, file->path, what, &why);
	if (status != 0 && (why.sys == ENOENT || why.sys == ENOTDIR)) {
		file->absence = why.sys;
		return 0;
	}
	if (status != 0) {
		if (err) {
			*err = why;
			why = (struct patch_error){0};
		}
		return status;
	}
	status = plan->texts ? 0 : check_alias(plan, file, err);
	if (status == 0)
		status = count_bytes(plan, file->old.text.len, err);
	if (status != 0)
		return status;
	file->was_there = file->is_there = true;
	file->base = file->old.text;
	return 0;
}

/* Follows links once (patch_tree.h). Those of another machine are not known. */
static int locate(struct patch_plan *plan, struct patch_file *file, const char *what, struct patch_error *err)
{
	if (plan->texts) {
		file->real = file->entry = file->path;
		return 0;
	}
	file->real = patch_real(&plan->arena, file->path);
	file->entry = file->real ? patch_entry(&plan->arena, file->path) : NULL;
	return file->entry ? 0 : patch_error_sys(err, errno, "%s %s", what, file->path);
}

/* Returns the record of a path, created on first use. `what` begins the error if it cannot be read. */
static int get_file(struct patch_plan *plan, struct str name, const char *what, struct patch_file **ret,
                    struct patch_error *err)
{
	const char *path = patch_path(&plan->arena, plan->cwd, name);
	*ret = find_file(plan, path);
	if (*ret)
		return 0;
	if (plan->files.count == LIMIT_PATCH_FILES)
		return patch_error_set(err, ERR_limit, "the patch touches more than %d files; send it in parts",
		                       LIMIT_PATCH_FILES);
	struct patch_file *file = arena_new(&plan->arena, struct patch_file);
	file->path = path;
	file->base = STR("");
	int status = load(plan, file, what, err);
	if (status == 0)
		status = locate(plan, file, what, err);
	if (status != 0) {
		patch_content_finish(&file->old);
		return status;
	}
	vec_push(&plan->files, file);
	*slot_of(plan, path) = (uint16_t)plan->files.count;
	*ret = file;
	return 0;
}

/* A missing folder will be created; a file in its place must be removed by the patch. */
static int check_folders(struct patch_plan *plan, const struct patch_file *file, struct patch_error *err)
{
	auto_free char *path = xstrdup(file->path);
	for (;;) {
		char *slash = strrchr(path, '/');
		if (!slash || slash == path)
			return 0;
		*slash = '\0';
		const struct patch_file *above = find_file(plan, path);
		struct stat st;
		bool is_here = !above && !plan->texts && stat(path, &st) == 0;
		bool is_file = above ? above->is_there : is_here && !S_ISDIR(st.st_mode);
		if (is_file)
			return patch_error_sys(err, ENOTDIR, "Failed to write file %s", file->path);
		if (above && above->was_there)
			plan->is_removal_first = true;
		else if (is_here)
			return 0;
	}
}

static void set_content(struct patch_file *file, struct str base, struct edits edits)
{
	vec_finish(&file->edits.list);
	file->base = base;
	file->edits = edits;
	file->is_there = true;
	file->is_added = false;
	file->origin = NULL;
	free(steal(file->new_text));
}

static void set_gone(struct patch_file *file)
{
	set_content(file, STR(""), (struct edits){0});
	patch_content_finish(&file->flat);
	file->is_there = false;
}

static int plan_add(struct patch_plan *plan, const struct patch_hunk *hunk, struct patch_error *err)
{
	struct patch_file *file;
	int status = get_file(plan, hunk->path, "Failed to write file", &file, err);
	if (status == 0)
		status = check_folders(plan, file, err);
	if (status == 0)
		status = count_bytes(plan, hunk->body.len, err);
	if (status != 0)
		return status;
	struct edits edits = {0};
	struct str text = patch_add_text(hunk, &plan->arena);
	if (text.len)
		vec_push(&edits.list, (struct edit){0, 0, text});
	set_content(file, STR(""), edits);
	patch_content_finish(&file->flat);
	file->is_added = true;
	return 0;
}

static int fail_absent(const struct patch_file *file, const char *what, struct patch_error *err)
{
	int status = patch_error_sys(err, file->absence ? file->absence : ENOENT, "%s %s", what, file->path);
	if (err)
		err->cause = PATCH_CAUSE_IN_BOTH;
	return status;
}

static int plan_delete(struct patch_plan *plan, const struct patch_hunk *hunk, struct patch_error *err)
{
	struct patch_file *file;
	int status = get_file(plan, hunk->path, read_other, &file, err);
	if (status != 0)
		return status;
	if (!file->is_there)
		return fail_absent(file, read_other, err);
	set_gone(file);
	return 0;
}

/* Returns the content that a hunk applies to: the original or the result of earlier hunks. */
static int current_content(struct patch_plan *plan, struct patch_file *file, const struct patch_content **ret,
                           struct patch_error *err)
{
	bool is_plain = file->edits.list.count == 0;
	*ret = &file->old;
	if (is_plain && file->was_there && file->base.ptr == file->old.text.ptr)
		return 0;
	*ret = &file->flat;
	if (is_plain && file->flat.block && file->base.ptr == file->flat.text.ptr)
		return 0;
	int status = count_bytes(plan, edits_new_len(&file->edits, file->base), err);
	if (status != 0)
		return status;
	struct patch_content flat;
	patch_content_edit(&flat, file->base, &file->edits);
	patch_content_finish(&file->flat);
	file->flat = flat;
	file->base = flat.text;
	vec_finish(&file->edits.list);
	return 0;
}

/* Moves the content of one file to another path. */
static int move(struct patch_plan *plan, struct patch_file *from, struct str name, struct patch_error *err)
{
	struct patch_file *to;
	int status = get_file(plan, name, "Failed to write file", &to, err);
	if (status == 0)
		status = check_folders(plan, to, err);
	if (status != 0 || to == from)
		return status;
	struct patch_file *origin = from->origin ? from->origin : from;
	bool is_added = from->is_added;
	set_content(to, from->base, from->edits);
	patch_content_finish(&to->flat);
	to->flat = from->flat;
	to->origin = origin;
	to->is_added = is_added;
	from->flat = (struct patch_content){0};
	from->edits = (struct edits){0};
	set_gone(from);
	return 0;
}

static int plan_update(struct patch_plan *plan, const struct patch_hunk *hunk, struct patch_error *err)
{
	struct patch_file *file;
	const struct patch_content *content;
	struct edits edits;
	int status = get_file(plan, hunk->path, read_update, &file, err);
	if (status != 0)
		return status;
	if (!file->is_there)
		return fail_absent(file, read_update, err);
	status = current_content(plan, file, &content, err);
	if (status == 0)
		status = patch_content_check(content, file->path, read_update, err);
	if (status == 0)
		status = patch_update_compute(plan->patch, hunk, file->path, content, &plan->arena, &edits, err);
	if (status != 0)
		return status;
	vec_finish(&file->edits.list);
	file->edits = edits;
	return hunk->move_path.ptr ? move(plan, file, hunk->move_path, err) : 0;
}

static int plan_hunk(struct patch_plan *plan, const struct patch_hunk *hunk, struct patch_error *err)
{
	switch (hunk->kind) {
	case PATCH_ADD:
		return plan_add(plan, hunk, err);
	case PATCH_DELETE:
		return plan_delete(plan, hunk, err);
	case PATCH_UPDATE:
		break;
	}
	return plan_update(plan, hunk, err);
}

/* Pairs moved files with their destinations; each has at most one. */
static void claim_origins(struct patch_plan *plan)
{
	vec_for_each(it, &plan->files) {
		struct patch_file *file = *it, *origin = file->origin;
		if (!file->is_there || !origin || !origin->was_there || origin->is_there || origin->is_claimed)
			continue;
		file->is_moved = true;
		origin->is_claimed = true;
	}
}

static void add_change(struct patch_plan *plan, enum patch_kind kind, struct patch_file *from, struct patch_file *to)
{
	struct patch_change change = {
		.kind = kind, .path = from->path, .real_path = from->entry, .from = from, .to = to};
	if (from != to) {
		change.move_path = to->path;
		change.real_move_path = to->real;
	} else if (kind != PATCH_DELETE) {
		change.real_path = to->real;
	}
	vec_push(&plan->changes, change);
}

static void list_changes(struct patch_plan *plan)
{
	vec_for_each(it, &plan->files) {
		struct patch_file *file = *it;
		if (file->is_moved)
			add_change(plan, PATCH_UPDATE, file->origin, file);
		else if (file->is_there)
			add_change(plan, file->is_added || !file->was_there ? PATCH_ADD : PATCH_UPDATE, file, file);
		else if (file->was_there && !file->is_claimed)
			add_change(plan, PATCH_DELETE, file, file);
	}
}

static bool list_text(struct patch_texts *texts, const char *cwd, struct str name, struct arena *arena)
{
	const char *path = patch_path(arena, cwd, name);
	if (find_text(texts, path))
		return true;
	if (texts->list.count == LIMIT_PATCH_TEXTS)
		return false;
	vec_push(&texts->list, (struct patch_text){path, STR_NONE});
	return true;
}

int patch_texts_list(struct patch_texts *ret, const struct patch *patch, const char *cwd, struct arena *arena,
                     struct patch_error *err)
{
	vec_for_each(it, &patch->hunks)
		if (!list_text(ret, cwd, it->path, arena) ||
		    (it->move_path.ptr && !list_text(ret, cwd, it->move_path, arena)))
			return patch_error_set(err, ERR_limit, "the patch touches more than %d files; send it in parts",
			                       LIMIT_PATCH_TEXTS);
	return 0;
}

struct patch_plan *patch_plan_create(const struct patch *patch, const char *cwd, const struct patch_texts *texts,
                                     struct patch_error *err)
{
	struct patch_plan *plan = xnew(struct patch_plan);
	plan->patch = patch;
	plan->texts = texts;
	plan->cwd = arena_cstr(&plan->arena, str_of(cwd));
	host_random(&plan->key, sizeof(plan->key));
	for (size_t i = 0; i < patch->hunks.count; i++) {
		if (plan_hunk(plan, &patch->hunks.items[i], err) != 0) {
			patch_plan_destroy(plan);
			return NULL;
		}
	}
	claim_origins(plan);
	list_changes(plan);
	return plan;
}

static void file_finish(struct patch_file *file)
{
	patch_content_finish(&file->old);
	patch_content_finish(&file->flat);
	vec_finish(&file->edits.list);
	free(file->parts);
	free(file->aside);
	free(file->new_text);
	if (file->is_staged)
		patch_stage_finish(&file->stage);
}

void patch_plan_destroy(struct patch_plan *plan)
{
	if (!plan)
		return;
	vec_for_each(it, &plan->files)
		file_finish(*it);
	vec_finish(&plan->files);
	vec_finish(&plan->changes);
	patch_folders_finish(&plan->folders);
	arena_finish(&plan->arena);
	free(plan);
}

const struct patch_change *patch_plan_changes(const struct patch_plan *plan, size_t *ret_count)
{
	*ret_count = plan->changes.count;
	return plan->changes.items;
}

bool patch_file_is_rewritten(const struct patch_file *file)
{
	bool is_as_read = file->was_there && file->base.ptr == file->old.text.ptr && file->edits.list.count == 0;
	return file->is_there && !is_as_read;
}

struct str patch_change_old(const struct patch_change *change)
{
	return change->from->was_there ? change->from->old.text : STR_NONE;
}

struct str patch_change_new(const struct patch_change *change)
{
	struct patch_file *file = change->to;
	if (!file->is_there)
		return STR_NONE;
	if (file->edits.list.count == 0)
		return file->base;
	if (!file->new_text) {
		file->new_len = edits_new_len(&file->edits, file->base);
		file->new_text = xmalloc(file->new_len + 1);
		edits_apply(&file->edits, file->base, file->new_text);
	}
	return str_n(file->new_text, file->new_len);
}

struct str patch_change_overwritten(const struct patch_change *change)
{
	return change->to != change->from && change->to->was_there ? change->to->old.text : STR_NONE;
}

static bool is_executable(const struct patch_file *file)
{
	return file->was_there && (file->old.st.st_mode & S_IXUSR);
}

bool patch_change_is_executable(const struct patch_change *change)
{
	return is_executable(change->from);
}

bool patch_change_was_executable(const struct patch_change *change)
{
	return change->to != change->from && is_executable(change->to);
}

void patch_change_diff(const struct patch_change *change, size_t context, struct buf *out)
{
	struct str old_text = patch_change_old(change);
	if (old_text.ptr && change->to->is_there && change->to->base.ptr == old_text.ptr) {
		diff_edits(old_text, &change->to->edits, context, out);
		return;
	}
	struct str new_text = patch_change_new(change);
	diff_unified(old_text.ptr ? old_text : STR(""), new_text.ptr ? new_text : STR(""), context, out);
}
