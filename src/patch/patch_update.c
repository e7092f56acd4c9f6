/* The result is a list of edits instead of a text: unchanged megabytes between two chunks are not copied, and the diff
 * is known without comparing.
 *
 * The rules are those of codex 0.169: where context lines differ from the file in blanks, the file's bytes stay; a
 * chunk without old lines is added at the end of the file; a blank line that ends a chunk may be missing in the file,
 * because models add such lines by habit. */
#include "patch/patch_update.h"

#include "patch/patch_error.h"
#include "patch/patch_limits.h"
#include "patch/patch_seek.h"

struct update {
	const char *path;
	const struct patch_content *content;
	struct patch_seek seek;
	struct arena *arena;
	struct edits edits;
	size_t from; /* where the search for the next chunk starts: chunks are in the order of the file */
	VEC(struct str) wanted;
	struct buf fresh; /* new lines of the current edit */
	struct buf tail;  /* new lines to add at the end of the file */
	struct patch_error *err;
};

static void update_init(struct update *update, const char *path, const struct patch_content *content,
                        struct arena *arena, struct patch_error *err)
{
	*update = (struct update){.path = path, .content = content, .arena = arena, .err = err};
	patch_seek_init(&update->seek, content->body, content->is_crlf);
	buf_init(&update->fresh, 2 * (size_t)LIMIT_PATCH_TEXT);
	buf_init(&update->tail, 2 * (size_t)LIMIT_PATCH_TEXT);
}

static void update_finish(struct update *update)
{
	patch_seek_finish(&update->seek);
	vec_finish(&update->edits.list);
	vec_finish(&update->wanted);
	buf_finish(&update->fresh);
	buf_finish(&update->tail);
}

static size_t line_len(const struct update *update, size_t at)
{
	struct str rest = str_skip(update->content->body, at);
	return (size_t)str_find_char(rest, '\n') + 1;
}

static int fail_size(struct update *update)
{
	return patch_error_set(update->err, ERR_limit,
	                       "Failed to find lines in %s: the file is too large to look for lines that differ in "
	                       "blanks; quote them exactly",
	                       update->path);
}

static int find_context(struct update *update, struct str context)
{
	size_t at;
	switch (patch_seek_lines(&update->seek, &context, 1, update->from, &at)) {
	case PATCH_FOUND:
		update->from = at + line_len(update, at);
		return 0;
	case PATCH_TOO_LARGE:
		return fail_size(update);
	case PATCH_MISSING:
		break;
	}
	patch_error_set(update->err, ERR_not_found, "Failed to find context '");
	patch_error_add(update->err, context);
	patch_error_add(update->err, STR("' in "));
	return patch_error_add(update->err, str_of(update->path));
}

static void append_line(const struct update *update, struct buf *out, struct str line)
{
	buf_append_str(out, line);
	buf_append_str(out, patch_content_eol(update->content));
}

static void add_at_end(struct update *update, const struct patch_chunk *chunk)
{
	struct str body = chunk->body;
	struct patch_line line;
	while (patch_line_next(&body, &line))
		append_line(update, &update->tail, line.text);
}

static void collect_wanted(struct update *update, const struct patch_chunk *chunk)
{
	struct str body = chunk->body;
	struct patch_line line;
	update->wanted.count = 0;
	while (patch_line_next(&body, &line)) {
		if (line.kind != '+')
			vec_push(&update->wanted, line.text);
	}
}

static int fail_lines(struct update *update, const struct patch_chunk *chunk)
{
	struct str body = chunk->body;
	struct patch_line line;
	patch_error_set(update->err, ERR_not_found, "Failed to find expected lines in %s:", update->path);
	while (patch_line_next(&body, &line)) {
		if (line.kind == '+')
			continue;
		patch_error_add(update->err, STR("\n"));
		patch_error_add(update->err, line.text);
	}
	return -ERR_not_found;
}

static enum patch_sought seek_wanted(struct update *update, bool is_at_end, size_t count, size_t *ret_at)
{
	if (count == 0) {
		*ret_at = update->from;
		return PATCH_FOUND;
	}
	if (is_at_end)
		return patch_seek_last(&update->seek, update->wanted.items, count, update->from, ret_at);
	return patch_seek_lines(&update->seek, update->wanted.items, count, update->from, ret_at);
}

/* Finds the chunk's old lines: all of them, or all but a blank last one. */
static int find_lines(struct update *update, const struct patch_chunk *chunk, size_t *ret_at, size_t *ret_count)
{
	/* A line has at least one byte, so a chunk with more lines than the file has bytes cannot match. */
	if (chunk->old_count > update->content->body.len + 1)
		return fail_lines(update, chunk);
	collect_wanted(update, chunk);
	size_t count = update->wanted.count;
	enum patch_sought sought = seek_wanted(update, chunk->is_at_end, count, ret_at);
	if (sought == PATCH_MISSING && update->wanted.items[count - 1].len == 0)
		sought = seek_wanted(update, chunk->is_at_end, --count, ret_at);
	if (sought == PATCH_TOO_LARGE)
		return fail_size(update);
	*ret_count = count;
	return sought == PATCH_FOUND ? 0 : fail_lines(update, chunk);
}

/* Ends the current edit, which replaces len bytes at `at`. Lines added after the last line go to the tail, so that
 * all additions keep the patch's order. */
static void end_edit(struct update *update, size_t at, size_t len)
{
	struct str fresh = buf_str(&update->fresh);
	if (len == 0 && at == update->content->body.len)
		buf_append_str(&update->tail, fresh);
	else if (len || fresh.len)
		vec_push(&update->edits.list, (struct edit){at, len, arena_str(update->arena, fresh)});
	buf_clear(&update->fresh);
}

/* Walks through the chunk and the `found` old lines at `at` in parallel. */
static void make_edits(struct update *update, const struct patch_chunk *chunk, size_t at, size_t found)
{
	struct str body = chunk->body;
	struct patch_line line;
	size_t old_seen = 0, new_seen = 0, len = 0;
	while (patch_line_next(&body, &line)) {
		bool is_old = line.kind != '+' && ++old_seen <= found;
		bool is_new = line.kind != '-' &&
		              (++new_seen < chunk->new_count || found == chunk->old_count || line.text.len != 0);
		if (is_old && is_new) {
			end_edit(update, at, len);
			at += len;
			at += line_len(update, at);
			len = 0;
		} else if (is_old) {
			len += line_len(update, at + len);
		} else if (is_new) {
			append_line(update, &update->fresh, line.text);
		}
	}
	end_edit(update, at, len);
	update->from = at + len;
}

static int apply_chunk(struct update *update, const struct patch_chunk *chunk)
{
	size_t at = 0, found = 0;
	int status = 0;
	if (chunk->context.ptr)
		status = find_context(update, chunk->context);
	if (status != 0)
		return status;
	if (chunk->old_count == 0) {
		add_at_end(update, chunk);
		return 0;
	}
	status = find_lines(update, chunk, &at, &found);
	if (status == 0)
		make_edits(update, chunk, at, found);
	return status;
}

/* Handles a last line without a newline: the edits add one and must not extend past the text. */
static void close_last_line(struct update *update)
{
	struct str text = update->content->text;
	size_t count = update->edits.list.count;
	struct edit *last = count ? &update->edits.list.items[count - 1] : NULL;
	if (last && last->at + last->len > text.len) {
		last->len = text.len - last->at;
		return;
	}
	size_t at = (size_t)(str_rfind_char(text, '\n') + 1);
	append_line(update, &update->fresh, str_skip(text, at));
	end_edit(update, at, text.len - at);
}

static void add_tail(struct update *update)
{
	struct str tail = buf_str(&update->tail);
	size_t end = update->content->text.len;
	if (tail.len)
		vec_push(&update->edits.list, (struct edit){end, 0, arena_str(update->arena, tail)});
}

int patch_update_compute(const struct patch *patch, const struct patch_hunk *hunk, const char *path,
                         const struct patch_content *content, struct arena *arena, struct edits *ret,
                         struct patch_error *err)
{
	struct update update;
	update_init(&update, path, content, arena, err);
	const struct patch_chunk *chunks = patch_chunks(patch, hunk);
	int status = 0;
	for (size_t i = 0; i < hunk->chunk_count && status == 0; i++)
		status = apply_chunk(&update, &chunks[i]);
	if (status == 0) {
		if (content->body.len != content->text.len)
			close_last_line(&update);
		add_tail(&update);
		*ret = update.edits;
		update.edits = (struct edits){0};
	}
	update_finish(&update);
	return status;
}

struct str patch_add_text(const struct patch_hunk *hunk, struct arena *arena)
{
	char *text = arena_alloc(arena, hunk->body.len + 1), *at = text;
	struct str body = hunk->body;
	struct patch_line line;
	while (patch_line_next(&body, &line)) {
		memcpy(at, line.text.ptr, line.text.len);
		at += line.text.len;
		*at++ = '\n';
	}
	return str_n(text, (size_t)(at - text));
}
