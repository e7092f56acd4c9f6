/* Each path has an entry with its content before the first patch and its content now; a moved file's new entry also
 * records where the content came from. Entries are independent of the order of patches, and renames are paired only
 * when the diff is written. An entry's hunks are cached until it changes, so that a long task does not diff the same
 * texts after every patch. */
#include "patch/git_diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha.h"
#include "patch/diff.h"

enum {
	CONTEXT = 3,
	BINARY_SEEN = 8000, /* git considers a file binary if its first bytes contain a NUL */
};

struct git_diff_file {
	char *path;
	struct buf old, now;
	bool had_file, has_file;
	bool was_executable, is_executable;
	struct git_diff_file *origin;           /* the entry of the content's original path, if that differs */
	const struct git_diff_file *claimed_by; /* the entry that received its content */
	struct buf hunks;
	/* the cached hunks lead from its old content to this now; NULL: not computed */
	const struct git_diff_file *hunks_from;
};

static void file_destroy(struct git_diff_file *file)
{
	buf_finish(&file->old);
	buf_finish(&file->now);
	buf_finish(&file->hunks);
	free(file->path);
	free(file);
}

void git_diff_finish(struct git_diff *diff)
{
	vec_for_each(file, &diff->files)
		file_destroy(*file);
	vec_finish(&diff->files);
	diff->bytes = 0;
}

/* Sets the current content. A file over the limit is left out of the diff from then on. */
static void set_now(struct git_diff *diff, struct git_diff_file *file, struct str now, bool is_executable)
{
	diff->bytes -= file->now.len;
	buf_clear(&file->now);
	file->has_file = now.ptr;
	file->is_executable = is_executable;
	file->hunks_from = NULL;
	buf_append_str(&file->now, diff->bytes + now.len <= LIMIT_GIT_DIFF ? now : STR(""));
	file->now.over |= diff->bytes + now.len > LIMIT_GIT_DIFF;
	diff->bytes += file->now.len;
}

static struct git_diff_file *file_create(struct git_diff *diff, const char *path, struct str old, bool was_executable)
{
	struct git_diff_file *file = xnew(struct git_diff_file);
	file->path = xstrdup(path);
	file->had_file = old.ptr;
	file->was_executable = was_executable;
	buf_init(&file->old, LIMIT_GIT_DIFF_FILE);
	buf_init(&file->now, LIMIT_GIT_DIFF_FILE);
	buf_init(&file->hunks, (size_t)4 * LIMIT_GIT_DIFF_FILE);
	buf_append_str(&file->old, old);
	diff->bytes += file->old.len;
	vec_push(&diff->files, file);
	return file;
}

/* Returns the entry of a path; a new entry records the current content as the content before. */
static struct git_diff_file *get_file(struct git_diff *diff, const char *path, struct str there, bool is_executable)
{
	vec_for_each(file, &diff->files) {
		if (strcmp((*file)->path, path) == 0)
			return *file;
	}
	return file_create(diff, path, there, is_executable);
}

void git_diff_note(struct git_diff *diff, const struct git_diff_change *change)
{
	struct git_diff_file *file = get_file(diff, change->path, change->old, change->is_executable);
	if (!change->move_path) {
		set_now(diff, file, change->now, change->is_executable);
		if (!change->now.ptr)
			file->origin = NULL;
		return;
	}
	struct git_diff_file *to = get_file(diff, change->move_path, change->overwritten, change->was_executable);
	struct git_diff_file *origin = file->origin ? file->origin : file->had_file ? file : NULL;
	set_now(diff, to, change->now, change->is_executable);
	set_now(diff, file, STR_NONE, false);
	file->origin = NULL;
	to->origin = origin == to ? NULL : origin;
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

/* Prints a name as git does: quoted if it contains control characters, quotes or backslashes. */
static void write_name(struct buf *out, const char *side, const char *name)
{
	static const char escapes[] = {['\a'] = 'a', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\v'] = 'v',
	                               ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
	bool is_quoted = false;
	for (const char *at = name; *at; at++)
		is_quoted = is_quoted || (unsigned char)*at < ' ' || strchr("\"\\\177", *at);
	if (!is_quoted) {
		buf_printf(out, "%s%s", side, name);
		return;
	}
	buf_printf(out, "\"%s", side);
	for (const char *at = name; *at; at++) {
		unsigned char c = (unsigned char)*at;
		if (c < sizeof(escapes) && escapes[c])
			buf_printf(out, "\\%c", escapes[c]);
		else if (c < ' ' || c == 0x7f)
			buf_printf(out, "\\%03o", c);
		else
			buf_append_char(out, *at);
	}
	buf_append_char(out, '"');
}

/* Writes a name; one with a blank is followed by a tab, which marks its end for parsers. */
static void write_side(struct buf *out, const char *mark, const char *side, const char *name, bool has_file)
{
	buf_append_c(out, mark);
	if (!has_file) {
		buf_append_c(out, "/dev/null\n");
		return;
	}
	size_t at = out->len;
	write_name(out, side, name);
	bool is_quoted = !out->over && out->data[at] == '"';
	buf_append_c(out, !is_quoted && strchr(name, ' ') ? "\t\n" : "\n");
}

static const char *shown(const char *path, const char *cwd)
{
	size_t len = strlen(cwd);
	if (!path_is_inside(path, cwd) || !path[len])
		return path;
	return path + len + (path[len] == '/');
}

static const char *mode_text(bool is_executable)
{
	return is_executable ? "100755" : "100644";
}

static bool is_binary(struct str text)
{
	return memchr(text.ptr, '\0', text.len < BINARY_SEEN ? text.len : BINARY_SEEN);
}

static void write_modes(const struct git_diff_file *from, const struct git_diff_file *file, struct buf *out)
{
	if (!from->had_file)
		buf_printf(out, "new file mode %s\n", mode_text(file->is_executable));
	else if (!file->has_file)
		buf_printf(out, "deleted file mode %s\n", mode_text(from->was_executable));
	else if (from->was_executable != file->is_executable)
		buf_printf(out, "old mode %s\nnew mode %s\n", mode_text(from->was_executable),
		           mode_text(file->is_executable));
}

static void write_content(const struct git_diff_file *from, struct git_diff_file *file, const char *old_name,
                          const char *new_name, struct buf *out)
{
	struct str old = buf_str(&from->old), now = buf_str(&file->now);
	buf_append_c(out, "index ");
	write_blob_id(out, from->had_file, old);
	buf_append_c(out, "..");
	write_blob_id(out, file->has_file, now);
	buf_append_char(out, '\n');
	if (is_binary(old) || is_binary(now)) {
		buf_append_c(out, "Binary files ");
		write_name(out, from->had_file ? "a/" : "", from->had_file ? old_name : "/dev/null");
		buf_append_c(out, " and ");
		write_name(out, file->has_file ? "b/" : "", file->has_file ? new_name : "/dev/null");
		buf_append_c(out, " differ\n");
		return;
	}
	if (file->hunks_from != from) {
		buf_clear(&file->hunks);
		diff_unified(old, now, CONTEXT, &file->hunks);
		file->hunks_from = from;
	}
	if (file->hunks.len == 0) /* an empty file was added or removed */
		return;
	write_side(out, "--- ", "a/", old_name, from->had_file);
	write_side(out, "+++ ", "b/", new_name, file->has_file);
	buf_append_str(out, buf_str(&file->hunks));
}

/* `from` is the file itself or, for a rename, its source. */
static void write_file(const struct git_diff_file *from, struct git_diff_file *file, const char *cwd, struct buf *out)
{
	const char *old_name = shown(from->path, cwd), *new_name = shown(file->path, cwd);
	bool is_same = from->had_file && file->has_file && str_eq(buf_str(&from->old), buf_str(&file->now));
	buf_append_c(out, "diff --git ");
	write_name(out, "a/", old_name);
	buf_append_char(out, ' ');
	write_name(out, "b/", new_name);
	buf_append_char(out, '\n');
	write_modes(from, file, out);
	if (!is_same) {
		write_content(from, file, old_name, new_name, out);
	} else if (from != file) {
		buf_append_c(out, "similarity index 100%\nrename from ");
		write_name(out, "", old_name);
		buf_append_c(out, "\nrename to ");
		write_name(out, "", new_name);
		buf_append_char(out, '\n');
	}
}

static bool is_shown(const struct git_diff_file *from, const struct git_diff_file *file)
{
	if (from->old.over || file->now.over || file->claimed_by)
		return false;
	bool is_same = from->had_file == file->has_file && str_eq(buf_str(&from->old), buf_str(&file->now)) &&
	               (!file->has_file || from->was_executable == file->is_executable);
	return from != file || !is_same;
}

/* Pairs removed files with new ones of the same content; each is paired at most once. */
static void claim_origins(const struct git_diff *diff)
{
	vec_for_each(it, &diff->files)
		(*it)->claimed_by = NULL;
	vec_for_each(it, &diff->files) {
		const struct git_diff_file *file = *it;
		struct git_diff_file *origin = file->origin;
		if (origin && file->has_file && !file->had_file && !origin->has_file && !origin->claimed_by)
			origin->claimed_by = file;
	}
}

static const struct git_diff_file *source_of(const struct git_diff_file *file)
{
	return file->origin && file->origin->claimed_by == file ? file->origin : file;
}

static int by_path(const void *a, const void *b)
{
	struct git_diff_file *const *left = a, *const *right = b;
	return strcmp((*left)->path, (*right)->path);
}

void git_diff_write(struct git_diff *diff, const char *cwd, struct buf *out)
{
	if (diff->files.count)
		qsort(diff->files.items, diff->files.count, sizeof(*diff->files.items), by_path);
	claim_origins(diff);
	vec_for_each(it, &diff->files) {
		const struct git_diff_file *from = source_of(*it);
		if (is_shown(from, *it))
			write_file(from, *it, cwd, out);
	}
}
