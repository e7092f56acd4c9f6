/* A file is found again by where it is now, so that a change of a moved file goes on from what it was at its old place.
 * What a file's part of the diff says is kept until the file changes again: a long task does not diff the same texts
 * with every patch. */
#include "patch/git_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha.h"
#include "patch/diff.h"

enum { CONTEXT = 3 };

struct git_diff_file {
	char *from; /* where it was, or was made */
	char *to;   /* where it is, or was last */
	struct buf old, now;
	bool had_file, has_file;
	struct buf hunks;
	bool has_hunks; /* they are what old and now make */
};

static void file_destroy(struct git_diff_file *file)
{
	buf_finish(&file->old);
	buf_finish(&file->now);
	buf_finish(&file->hunks);
	free(file->from);
	free(file->to);
	free(file);
}

void git_diff_finish(struct git_diff *diff)
{
	vec_for_each(file, &diff->files)
		file_destroy(*file);
	vec_finish(&diff->files);
	diff->bytes = 0;
}

static struct git_diff_file *find(struct git_diff *diff, const char *path)
{
	vec_for_each(file, &diff->files) {
		if (strcmp((*file)->to, path) == 0)
			return *file;
	}
	return NULL;
}

static struct git_diff_file *file_create(struct git_diff *diff, const char *path, struct str old)
{
	struct git_diff_file *file = xnew(struct git_diff_file);
	file->from = xstrdup(path);
	file->to = xstrdup(path);
	file->had_file = old.ptr;
	buf_init(&file->old, LIMIT_GIT_DIFF_FILE);
	buf_init(&file->now, LIMIT_GIT_DIFF_FILE);
	buf_init(&file->hunks, (size_t)4 * LIMIT_GIT_DIFF_FILE);
	buf_append_str(&file->old, old);
	diff->bytes += old.len;
	vec_push(&diff->files, file);
	return file;
}

/* What is too large is known from then on as a file that cannot be told of. */
static void set_now(struct git_diff *diff, struct git_diff_file *file, struct str now)
{
	diff->bytes -= file->now.len;
	buf_clear(&file->now);
	file->has_file = now.ptr;
	file->has_hunks = false;
	buf_append_str(&file->now, diff->bytes + now.len <= LIMIT_GIT_DIFF ? now : STR(""));
	file->now.over |= diff->bytes + now.len > LIMIT_GIT_DIFF;
	diff->bytes += file->now.len;
}

void git_diff_note(struct git_diff *diff, const char *path, const char *move_path, struct str old, struct str now)
{
	struct git_diff_file *file = find(diff, path);
	if (!file)
		file = file_create(diff, path, old);
	if (move_path) {
		free(file->to);
		file->to = xstrdup(move_path);
	}
	set_now(diff, file, now);
}

/* ---- out ---- */

static void write_blob_id(struct buf *out, bool has_file, struct str bytes)
{
	uint8_t id[SHA1_SIZE] = {0};
	if (has_file) {
		struct buf blob;
		buf_init(&blob, LIMIT_GIT_DIFF_FILE + KIB);
		buf_printf(&blob, "blob %zu", bytes.len);
		buf_append_char(&blob, '\0');
		buf_append_str(&blob, bytes);
		sha1(buf_str(&blob), id);
		buf_finish(&blob);
	}
	for (size_t i = 0; i < sizeof(id); i++)
		buf_printf(out, "%02x", id[i]);
}

static const char *shown(const char *path, const char *cwd)
{
	size_t len = strlen(cwd);
	if (!path_is_inside(path, cwd) || !path[len])
		return path;
	return path + len + (path[len] == '/');
}

static void write_file(struct git_diff_file *file, const char *cwd, struct buf *out)
{
	const char *from = shown(file->from, cwd), *to = shown(file->to, cwd);
	struct str old = buf_str(&file->old), now = buf_str(&file->now);
	if (!file->has_hunks) {
		buf_clear(&file->hunks);
		diff_unified(old, now, CONTEXT, &file->hunks);
		file->has_hunks = true;
	}
	buf_printf(out, "diff --git a/%s b/%s\n", from, to);
	if (!file->had_file)
		buf_append_c(out, "new file mode 100644\n");
	if (!file->has_file)
		buf_append_c(out, "deleted file mode 100644\n");
	buf_append_c(out, "index ");
	write_blob_id(out, file->had_file, old);
	buf_append_c(out, "..");
	write_blob_id(out, file->has_file, now);
	buf_printf(out, "\n--- %s%s\n", file->had_file ? "a/" : "", file->had_file ? from : "/dev/null");
	buf_printf(out, "+++ %s%s\n", file->has_file ? "b/" : "", file->has_file ? to : "/dev/null");
	buf_append_str(out, buf_str(&file->hunks));
}

static bool is_told(const struct git_diff_file *file)
{
	bool is_known = !file->old.over && !file->now.over;
	return is_known && (file->had_file != file->has_file || !str_eq(buf_str(&file->old), buf_str(&file->now)));
}

static int by_path(const void *a, const void *b)
{
	struct git_diff_file *const *left = a, *const *right = b;
	return strcmp((*left)->to, (*right)->to);
}

void git_diff_write(struct git_diff *diff, const char *cwd, struct buf *out)
{
	if (diff->files.count)
		qsort(diff->files.items, diff->files.count, sizeof(*diff->files.items), by_path);
	vec_for_each(file, &diff->files) {
		if (is_told(*file))
			write_file(*file, cwd, out);
	}
}
