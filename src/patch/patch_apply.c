/* The apply_patch program promises what its predecessors did: hunks are applied in order, each completed before the
 * next is read. No file is left half-written (patch_tree.h), and a file moved onto itself is changed, not lost. */
#include "patch/patch_apply.h"

#include <errno.h>

#include "base/mem.h"
#include "patch/patch_content.h"
#include "patch/patch_error.h"
#include "patch/patch_tree.h"
#include "patch/patch_update.h"

struct apply {
	const struct patch *patch;
	const char *cwd;
	struct arena arena; /* holds data of the current hunk */
	struct patch_error *err;
};

static int write_file(struct apply *apply, const char *path, const struct iovec *parts, size_t count, mode_t mode)
{
	const char *real = patch_real(&apply->arena, path);
	if (!real)
		return patch_error_sys(apply->err, errno, "Failed to write file %s", path);
	int status = patch_folders_make(real, NULL, path, apply->err);
	if (status != 0)
		return status;
	struct patch_stage stage;
	status = patch_stage_write(&stage, real, path, parts, count, mode, apply->err);
	if (status != 0)
		return status;
	status = patch_stage_commit(&stage, apply->err);
	patch_stage_finish(&stage);
	return status;
}

static int apply_add(struct apply *apply, const struct patch_hunk *hunk)
{
	struct str text = patch_add_text(hunk, &apply->arena);
	struct iovec part = {.iov_base = (void *)(uintptr_t)text.ptr, .iov_len = text.len};
	return write_file(apply, patch_path(&apply->arena, apply->cwd, hunk->path), &part, 1, 0);
}

static int remove_file(struct apply *apply, const char *path, const char *what)
{
	const char *entry = patch_entry(&apply->arena, path);
	int sys = entry ? patch_entry_remove(entry) : errno;
	return sys ? patch_error_sys(apply->err, sys, "%s %s", what, path) : 0;
}

static int apply_delete(struct apply *apply, const struct patch_hunk *hunk)
{
	return remove_file(apply, patch_path(&apply->arena, apply->cwd, hunk->path), "Failed to delete file");
}

/* True if a move's destination is the file itself. */
static bool stays(struct apply *apply, const char *path, const char *target)
{
	const char *entry = patch_entry(&apply->arena, path), *real = patch_real(&apply->arena, target);
	return entry && real && patch_is_same_file(entry, real);
}

static int write_update(struct apply *apply, const struct patch_hunk *hunk, const char *path,
                        const struct patch_content *content, const struct edits *edits)
{
	auto_free struct iovec *parts = xmalloc((2 * edits->list.count + 1) * sizeof(*parts));
	size_t count = edits_parts(edits, content->text, parts);
	if (!hunk->move_path.ptr)
		return write_file(apply, path, parts, count, content->st.st_mode);
	const char *target = patch_path(&apply->arena, apply->cwd, hunk->move_path);
	int status = write_file(apply, target, parts, count, content->st.st_mode);
	if (status != 0 || stays(apply, path, target))
		return status;
	return remove_file(apply, path, "Failed to remove original");
}

static int apply_update(struct apply *apply, const struct patch_hunk *hunk)
{
	static const char what[] = "Failed to read file to update";
	const char *path = patch_path(&apply->arena, apply->cwd, hunk->path);
	struct patch_content content;
	struct edits edits = {0};
	int status = patch_content_read(&content, path, what, apply->err);
	if (status != 0)
		return status;
	status = patch_content_check(&content, path, what, apply->err);
	if (status == 0)
		status = patch_update_compute(apply->patch, hunk, path, &content, &apply->arena, &edits, apply->err);
	if (status == 0)
		status = write_update(apply, hunk, path, &content, &edits);
	vec_finish(&edits.list);
	patch_content_finish(&content);
	return status;
}

static int apply_hunk(struct apply *apply, const struct patch_hunk *hunk)
{
	switch (hunk->kind) {
	case PATCH_ADD:
		return apply_add(apply, hunk);
	case PATCH_DELETE:
		return apply_delete(apply, hunk);
	case PATCH_UPDATE:
		break;
	}
	return apply_update(apply, hunk);
}

int patch_apply(const struct patch *patch, const char *cwd, struct patch_error *err)
{
	if (patch->hunks.count == 0)
		return patch_error_set(err, ERR_invalid, "No files were modified.");
	struct apply apply = {.patch = patch, .cwd = cwd, .err = err};
	int status = 0;
	for (size_t i = 0; i < patch->hunks.count && status == 0; i++) {
		status = apply_hunk(&apply, &patch->hunks.items[i]);
		arena_reset(&apply.arena);
	}
	arena_finish(&apply.arena);
	return status;
}

void patch_summary(const struct patch *patch, struct buf *out)
{
	static const struct {
		enum patch_kind kind;
		const char *mark;
	} order[] = {{PATCH_ADD, "A "}, {PATCH_UPDATE, "M "}, {PATCH_DELETE, "D "}};
	buf_append_c(out, "Success. Updated the following files:\n");
	for (size_t i = 0; i < countof(order); i++) {
		vec_for_each(it, &patch->hunks) {
			if (it->kind != order[i].kind)
				continue;
			buf_append_c(out, order[i].mark);
			buf_append_str(out, it->move_path.ptr ? it->move_path : it->path);
			buf_append_char(out, '\n');
		}
	}
}
