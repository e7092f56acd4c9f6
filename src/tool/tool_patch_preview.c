/* The text is cut after its last whole line and ended; a header whose lines have not come yet is cut off, too. */
#include "tool/tool_patch_preview.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "patch/patch_error.h"
#include "patch/patch_parse.h"

#define END "*** End Patch\n"

enum { CUTS = 3 }; /* lines that a complete patch cannot end with: a header, its new path, an @@ line */

static struct str cut_line(struct str text)
{
	size_t len = text.len;
	while (len && text.ptr[len - 1] != '\n')
		len--;
	return str_n(text.ptr, len);
}

static bool parse(struct str text, struct arena *arena, struct patch *ret)
{
	struct patch_error err = {0};
	char *whole = arena_alloc(arena, text.len + sizeof(END));
	memcpy(whole, text.ptr, text.len);
	memcpy(whole + text.len, END, sizeof(END));
	bool is_parsed = patch_parse(ret, str_n(whole, text.len + sizeof(END) - 1), &err) == 0;
	patch_error_finish(&err);
	if (is_parsed && ret->hunks.count)
		return true;
	if (is_parsed)
		patch_finish(ret);
	return false;
}

static struct str added_text(struct str body, struct arena *arena)
{
	auto_buf struct buf text;
	struct patch_line line;
	buf_init(&text, LIMIT_STREAMED_TEXT);
	while (patch_line_next(&body, &line)) {
		buf_append_str(&text, line.text);
		buf_append_char(&text, '\n');
	}
	return arena_str(arena, buf_str(&text));
}

static struct str diff_text(const struct patch *patch, const struct patch_hunk *hunk, struct arena *arena)
{
	auto_buf struct buf text;
	struct patch_line line;
	const struct patch_chunk *chunks = patch_chunks(patch, hunk);
	buf_init(&text, LIMIT_STREAMED_TEXT * 2);
	for (size_t i = 0; i < hunk->chunk_count; i++) {
		struct str body = chunks[i].body;
		buf_printf(&text, "@@%s%.*s\n", chunks[i].context.len ? " " : "", (int)chunks[i].context.len,
		           chunks[i].context.len ? chunks[i].context.ptr : "");
		while (patch_line_next(&body, &line)) {
			buf_append_char(&text, line.kind);
			buf_append_str(&text, line.text);
			buf_append_char(&text, '\n');
		}
	}
	return arena_str(arena, buf_str(&text));
}

static struct file_change change_of(const struct patch *patch, const struct patch_hunk *hunk, struct arena *arena)
{
	struct file_change change = {.tag = file_change_add};
	if (hunk->kind == PATCH_ADD) {
		change.add = arena_new(arena, struct file_add);
		change.add->content = added_text(hunk->body, arena);
	} else if (hunk->kind == PATCH_DELETE) {
		change.tag = file_change_delete;
		change.delete = arena_new(arena, struct file_delete);
		change.delete->content = STR("");
	} else {
		change.tag = file_change_update;
		change.update = arena_new(arena, struct file_update);
		change.update->unified_diff = diff_text(patch, hunk, arena);
		change.update->move_path = hunk->move_path.ptr ? arena_str(arena, hunk->move_path) : STR_NONE;
	}
	return change;
}

size_t tool_patch_preview(struct str text, struct arena *arena, struct ev_patch_updated *ret)
{
	struct patch patch;
	struct str part = cut_line(text);
	int cuts = 0;
	while (part.len && !parse(part, arena, &patch)) {
		part = cut_line(str_n(part.ptr, part.len - 1));
		if (cuts++ == CUTS)
			return 0;
	}
	if (!part.len)
		return 0;
	size_t count = patch.hunks.count;
	ret->changes_keys = arena_array(arena, struct str, count);
	ret->changes = arena_array(arena, struct file_change, count);
	ret->changes_count = count;
	for (size_t i = 0; i < count; i++) {
		ret->changes_keys[i] = arena_str(arena, patch.hunks.items[i].path);
		ret->changes[i] = change_of(&patch, &patch.hunks.items[i], arena);
	}
	patch_finish(&patch);
	return part.len;
}
