/* Clients compute a diff of their own from both texts, so they get whole files where these are small enough. The patch
 * may have been written already when its event is handled: the hunks are tried in both directions. */
#include "acp/acp_diff.h"

#include "acp/acp_limits.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/message/acp.h"
#include "protocol/message/app.h"

struct acp_sides {
	struct str before, after;
};

struct hunk_range {
	size_t old_start, new_start;
};

/* Reads "-3,4" or "+3": the index of the first line, from 0. */
static bool read_start(struct str *rest, char sign, size_t *ret)
{
	uint64_t start = 0, count = 1;
	size_t at = 1;
	if (!rest->len || rest->ptr[0] != sign)
		return false;
	for (; at < rest->len && rest->ptr[at] >= '0' && rest->ptr[at] <= '9' && start < LIMIT_DIFF_LINES; at++)
		start = start * 10 + (uint64_t)(rest->ptr[at] - '0');
	if (at < rest->len && rest->ptr[at] == ',') {
		count = at + 1 < rest->len && rest->ptr[at + 1] == '0' ? 0 : 1;
		while (at < rest->len && rest->ptr[at] != ' ')
			at++;
	}
	*rest = str_skip(*rest, at);
	*ret = count && start ? start - 1 : start; /* without lines, the number is that of the line before */
	return true;
}

static bool read_range(struct str line, struct hunk_range *ret)
{
	struct str rest = line;
	if (!str_cut_prefix(&rest, "@@ ") || !read_start(&rest, '-', &ret->old_start) || !str_cut_prefix(&rest, " "))
		return false;
	return read_start(&rest, '+', &ret->new_start);
}

struct patcher {
	struct str rest; /* of the file */
	size_t line;     /* index of its next line */
	struct buf out;
	char drops, adds; /* '-' and '+', or the reverse */
};

static void append_line(struct buf *out, struct str line)
{
	buf_append_str(out, line);
	buf_append_char(out, '\n');
}

/* Copies lines of the file up to an index. */
static bool copy_to(struct patcher *patcher, size_t index)
{
	struct str line;
	for (; patcher->line < index; patcher->line++) {
		if (!str_next_line(&patcher->rest, &line))
			return false;
		append_line(&patcher->out, line);
	}
	return patcher->line == index;
}

static bool take_line(struct patcher *patcher, struct str line)
{
	struct str own, text = str_skip(line, 1);
	if (line.ptr[0] == '\\') { /* the line before has no line end */
		if (patcher->out.len && patcher->out.data[patcher->out.len - 1] == '\n' && !patcher->rest.len)
			buf_truncate(&patcher->out, patcher->out.len - 1);
		return true;
	}
	if (line.ptr[0] == patcher->adds) {
		append_line(&patcher->out, text);
		return true;
	}
	if (!str_next_line(&patcher->rest, &own) || !str_eq(own, text))
		return false;
	patcher->line++;
	if (line.ptr[0] == ' ')
		append_line(&patcher->out, text);
	return true;
}

static bool is_hunk_line(struct str line)
{
	return line.len && memchr(" +-\\", line.ptr[0], 4);
}

/* Applies the hunks, or reverts them. Leaves the result in patcher->out. */
static bool apply(struct patcher *patcher, struct str hunks)
{
	struct hunk_range range;
	struct str line;
	bool is_reverse = patcher->drops == '+';
	while (str_next_line(&hunks, &line)) {
		if (str_has_prefix(line, "@@")) {
			if (!read_range(line, &range) ||
			    !copy_to(patcher, is_reverse ? range.new_start : range.old_start))
				return false;
		} else if (!is_hunk_line(line)) {
			break; /* "Moved to: …" */
		} else if (!take_line(patcher, line)) {
			return false;
		}
	}
	buf_append_str(&patcher->out, patcher->rest);
	return !patcher->out.over;
}

/* Returns STR_NONE if the hunks do not fit. */
static struct str apply_to(struct str current, struct str hunks, bool is_reverse, struct arena *arena)
{
	struct patcher patcher = {.rest = current, .drops = is_reverse ? '+' : '-', .adds = is_reverse ? '-' : '+'};
	buf_init(&patcher.out, current.len + hunks.len + 1);
	struct str ret = apply(&patcher, hunks) ? arena_str(arena, buf_str(&patcher.out)) : STR_NONE;
	buf_finish(&patcher.out);
	return ret;
}

static struct acp_sides hunks_alone(struct str hunks, struct arena *arena)
{
	auto_buf struct buf before, after;
	struct str line;
	buf_init(&before, hunks.len + 1);
	buf_init(&after, hunks.len + 1);
	while (str_next_line(&hunks, &line)) {
		if (str_has_prefix(line, "@@"))
			continue;
		if (!is_hunk_line(line))
			break;
		if (line.ptr[0] == ' ' || line.ptr[0] == '-')
			append_line(&before, str_skip(line, 1));
		if (line.ptr[0] == ' ' || line.ptr[0] == '+')
			append_line(&after, str_skip(line, 1));
	}
	return (struct acp_sides){arena_str(arena, buf_str(&before)), arena_str(arena, buf_str(&after))};
}

/* current: the text of the file, or STR_NONE if it is unknown. */
static struct acp_sides find_sides(struct str current, struct str hunks, struct arena *arena)
{
	struct acp_sides ret = {current, STR_NONE};
	if (current.ptr)
		ret.after = apply_to(current, hunks, false, arena);
	if (ret.after.ptr)
		return ret;
	ret = (struct acp_sides){STR_NONE, current};
	if (current.ptr)
		ret.before = apply_to(current, hunks, true, arena);
	return ret.before.ptr ? ret : hunks_alone(hunks, arena);
}

/* ---- a patch ---- */

/* Returns the text of a file, or STR_NONE if it is too large, not text, or does not exist. */
static struct str read_text(const char *path, size_t *budget, struct arena *arena)
{
	auto_buf struct buf text;
	struct error err;
	buf_init(&text, *budget < LIMIT_ACP_DIFF_FILE ? *budget : LIMIT_ACP_DIFF_FILE);
	if (file_read_regular(path, &text, &err) != 0 || !text_is_utf8(buf_str(&text)))
		return STR_NONE;
	*budget -= text.len;
	return arena_str(arena, buf_str(&text));
}

struct str acp_diff_read(const char *path, struct arena *arena)
{
	size_t budget = LIMIT_ACP_DIFF_FILE;
	return read_text(path, &budget, arena);
}

static struct acp_diff *diff_of(const struct app_file_update_change *change, struct str cwd, size_t *budget,
                                struct arena *arena)
{
	struct acp_diff *ret = arena_new(arena, struct acp_diff);
	auto_free char *folder = str_dup(cwd), *name = str_dup(change->path);
	auto_free char *path = path_join(folder, name);
	ret->path = arena_str(arena, str_of(path));
	if (change->kind->tag == app_patch_change_kind_add) {
		ret->new_text = change->diff;
		ret->_meta = STR("{\"kind\":\"add\"}");
	} else if (change->kind->tag == app_patch_change_kind_delete) {
		ret->old_text = change->diff;
		ret->new_text = STR("");
		ret->_meta = STR("{\"kind\":\"delete\"}");
	} else {
		auto_free char *moved = change->kind->update->move__path.ptr ? str_dup(change->kind->update->move__path)
		                                                             : xstrdup(name);
		auto_free char *target = path_join(folder, moved);
		struct str current = read_text(path, budget, arena);
		if (!current.ptr)
			current = read_text(target, budget, arena);
		struct acp_sides sides = find_sides(current, change->diff, arena);
		ret->path = arena_str(arena, str_of(target));
		ret->old_text = sides.before;
		ret->new_text = sides.after;
		ret->_meta = STR("{\"kind\":\"update\"}");
	}
	return ret;
}

struct acp_tool_content *acp_diff_of_patch(const struct app_item_file_change *patch, struct str cwd,
                                           struct arena *arena)
{
	size_t budget = LIMIT_ACP_DIFFS;
	struct acp_tool_content *ret = arena_array(arena, struct acp_tool_content, patch->changes_count);
	for (size_t i = 0; i < patch->changes_count; i++)
		ret[i] = (struct acp_tool_content){.tag = acp_tool_content_diff,
		                                   .diff = diff_of(&patch->changes[i], cwd, &budget, arena)};
	return ret;
}
