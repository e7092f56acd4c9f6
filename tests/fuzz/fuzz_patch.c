/* Any text is a patch or is refused with words; what is found in a file is what a slow and simple search finds; the
 * edits of a file are in order and lead to a text whose last line ends. An input is a file, a NUL, a patch. */
#include "fuzz.h"

#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "patch/diff.h"
#include "patch/patch_apply.h"
#include "patch/patch_command.h"
#include "patch/patch_content.h"
#include "patch/patch_error.h"
#include "patch/patch_limits.h"
#include "patch/patch_lines.h"
#include "patch/patch_parse.h"
#include "patch/patch_seek.h"
#include "patch/patch_update.h"

enum { WANTED_MAX = 64 };

static bool is_within(struct str part, struct str whole)
{
	return part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len;
}

static void check_error(const struct patch_error *err)
{
	auto_buf struct buf words;
	buf_init(&words, 2 * (size_t)LIMIT_PATCH_ERROR);
	patch_error_for_model(err, &words);
	patch_error_for_terminal(err, &words);
	fuzz_check(err->code != ERR_none && words.len > 0 && text_is_utf8(buf_str(&words)));
}

static void check_chunk(const struct patch_chunk *chunk, struct str text)
{
	struct str body = chunk->body;
	struct patch_line line;
	size_t old_count = 0, new_count = 0;
	while (patch_line_next(&body, &line)) {
		fuzz_check(line.kind == ' ' || line.kind == '-' || line.kind == '+');
		fuzz_check(is_within(line.text, text));
		old_count += line.kind != '+';
		new_count += line.kind != '-';
	}
	fuzz_check(old_count + new_count > 0 && old_count == chunk->old_count && new_count == chunk->new_count);
}

static void check_patch(const struct patch *patch)
{
	size_t chunks = 0;
	vec_for_each(it, &patch->hunks) {
		fuzz_check(it->path.len > 0 && is_within(it->path, patch->text));
		fuzz_check((it->kind == PATCH_UPDATE) == (it->chunk_count > 0));
		for (size_t i = 0; i < it->chunk_count; i++)
			check_chunk(patch_chunks(patch, it) + i, patch->text);
		chunks += it->chunk_count;
	}
	fuzz_check(chunks == patch->chunks.count);
	struct patch again;
	fuzz_check(patch_parse(&again, patch->text, NULL) == 0);
	fuzz_check(again.hunks.count == patch->hunks.count && again.chunks.count == patch->chunks.count);
	patch_finish(&again);
}

static bool next_line(struct str *rest, struct str *ret_line)
{
	if (!str_next_line(rest, ret_line))
		return false;
	if (ret_line->len && ret_line->ptr[ret_line->len - 1] == '\r')
		ret_line->len--;
	return true;
}

/* The four passes as they are described: every level over every line. */
static bool seek_slowly(struct str text, const struct str *wanted, size_t count, size_t from, size_t *ret_at)
{
	struct patch_lines lines;
	bool is_found = false;
	patch_lines_init(&lines, text);
	for (int level = 0; level < PATCH_LEVELS && !is_found; level++) {
		struct str start = str_skip(text, from), skipped;
		do {
			struct str rest = start, line;
			size_t same = 0;
			while (same < count && next_line(&rest, &line) &&
			       patch_lines_equal(&lines, level, wanted[same], line))
				same++;
			is_found = same == count;
			*ret_at = (size_t)(start.ptr - text.ptr);
		} while (!is_found && str_next_line(&start, &skipped));
	}
	patch_lines_finish(&lines);
	return is_found;
}

static void check_seek(const struct patch_content *content, const struct patch_chunk *chunk, struct patch_seek *seek)
{
	struct str wanted[WANTED_MAX], body = chunk->body;
	struct patch_line line;
	size_t count = 0, at = 0, slow_at = 0, from = (size_t)(str_find_char(content->body, '\n') + 1);
	while (patch_line_next(&body, &line) && count < WANTED_MAX) {
		if (line.kind != '+')
			wanted[count++] = line.text;
	}
	if (count == 0)
		return;
	for (int part = 0; part < 2; part++, from = 0) {
		bool is_found = patch_seek_lines(seek, wanted, count, from, &at) == PATCH_FOUND;
		fuzz_check(is_found == seek_slowly(content->body, wanted, count, from, &slow_at));
		fuzz_check(!is_found || at == slow_at);
	}
}

static void check_edits(const struct edits *edits, const struct patch_content *content)
{
	struct str old = content->text;
	size_t at = 0, len = edits_new_len(edits, old), joined = 0;
	vec_for_each(it, &edits->list) {
		fuzz_check(it->at >= at && it->at + it->len <= old.len && it->len + it->text.len > 0);
		fuzz_check(it->at == 0 || it->at == old.len || old.ptr[it->at - 1] == '\n');
		at = it->at + it->len;
	}
	auto_free char *text = xmalloc(len + 1);
	edits_apply(edits, old, text);
	fuzz_check(len == 0 || text[len - 1] == '\n');
	auto_free struct iovec *parts = xmalloc((2 * edits->list.count + 1) * sizeof(*parts));
	size_t count = edits_parts(edits, old, parts);
	for (size_t i = 0; i < count; i++) {
		fuzz_check(memcmp(text + joined, parts[i].iov_base, parts[i].iov_len) == 0);
		joined += parts[i].iov_len;
	}
	fuzz_check(joined == len);
	auto_buf struct buf diff;
	buf_init(&diff, 64 * MIB);
	diff_edits(old, edits, 1, &diff);
	fuzz_check((diff.len == 0) == str_eq(old, str_n(text, len)));
}

static void check_update(const struct patch *patch, const struct patch_hunk *hunk, const struct patch_content *content)
{
	auto_arena struct arena arena = {0};
	auto_patch_error struct patch_error err = {0};
	struct edits edits = {0};
	struct patch_seek seek;
	patch_seek_init(&seek, content->body, content->is_crlf);
	for (size_t i = 0; i < hunk->chunk_count && i < 8; i++)
		check_seek(content, patch_chunks(patch, hunk) + i, &seek);
	patch_seek_finish(&seek);
	if (patch_update_compute(patch, hunk, "f", content, &arena, &edits, &err) == 0)
		check_edits(&edits, content);
	else
		check_error(&err);
	vec_finish(&edits.list);
}

static void check_command(struct str text)
{
	struct patch_command found = patch_command_find((const struct str[]){STR("sh"), STR("-c"), text}, 3);
	if (found.kind != PATCH_COMMAND_APPLY)
		return;
	fuzz_check(is_within(found.patch, text));
	fuzz_check(!found.folder.ptr || (found.folder.len > 0 && is_within(found.folder, text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	ptrdiff_t split = str_find_char(text, '\0');
	struct str file = str_n(text.ptr, split < 0 ? 0 : (size_t)split);
	text = str_skip(text, (size_t)(split + 1));
	if (!text_is_utf8(text) || !text_is_utf8(file))
		return 0;
	check_command(text);
	auto_patch struct patch patch = {0};
	auto_patch_error struct patch_error err = {0};
	if (patch_parse(&patch, text, &err) != 0) {
		check_error(&err);
		return 0;
	}
	check_patch(&patch);
	struct patch_content content;
	patch_content_edit(&content, file, &(struct edits){0});
	vec_for_each(it, &patch.hunks) {
		if (it->kind == PATCH_UPDATE)
			check_update(&patch, it, &content);
	}
	patch_content_finish(&content);
	return 0;
}
