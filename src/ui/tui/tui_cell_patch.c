/* Each row has the number of its line (of the old file for a removed one), a sign, and the highlighted text. */
#include "ui/tui/tui_cell_patch.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/record/types.h"
#include "term/term_code.h"

enum { LINES_SHOWN = 200, LINE_BYTES = 8 * KIB, NUMBER_LEAST = 2 };

static const struct tui_look title_look = {"• ", TERM_dim, TERM_bold}, file_look = {"  └ ", TERM_dim, TERM_bold},
			     more_look = {"    ", TERM_dim, TERM_dim};

static const char *const verbs[] = {
	[CHANGE_added] = "Added ", [CHANGE_deleted] = "Deleted ", [CHANGE_edited] = "Edited "};

struct count {
	size_t added, removed;
};

static struct count count_change(const struct tui_change *change)
{
	struct count count = {0};
	struct str rest = change->text, line;
	if (change->kind == CHANGE_added)
		return (struct count){.added = text_line_count(rest)};
	if (change->kind == CHANGE_deleted)
		return (struct count){.removed = text_line_count(rest)};
	while (str_next_line(&rest, &line)) {
		count.added += str_has_prefix(line, "+") && !str_has_prefix(line, "+++ ");
		count.removed += str_has_prefix(line, "-") && !str_has_prefix(line, "--- ");
	}
	return count;
}

/* ---- rows ---- */

struct diff {
	struct tui_page *page;
	struct term_code code;
	size_t old, new; /* numbers of the next lines */
	size_t shown;
	bool is_cut;
};

static bool is_over(const struct diff *diff)
{
	return !diff->page->is_full && diff->shown >= LINES_SHOWN;
}

/* Writes one line; sign: '+', '-' or ' '. */
static void write_line(struct diff *diff, char sign, struct str line)
{
	char mark[64];
	size_t number = sign == '-' ? diff->old : diff->new;
	enum term_style style = sign == '+' ? TERM_green : sign == '-' ? TERM_red : TERM_dim;
	struct term_text text;
	diff->old += sign != '+';
	diff->new += sign != '-';
	diff->is_cut = is_over(diff);
	if (diff->is_cut)
		return;
	diff->shown++;
	term_text_init(&text);
	if (line.len > LINE_BYTES)
		line = str_n(line.ptr, text_floor_boundary(line, LINE_BYTES));
	if (sign == ' ')
		term_code_add(&diff->code, line, &text);
	else
		term_text_add(&text, style, line);
	snprintf(mark, sizeof(mark), "    %*zu %c", NUMBER_LEAST + 1, number, sign);
	tui_page_write_text(diff->page, &(struct tui_look){mark, style, style}, &text);
	term_text_finish(&text);
}

/* Reads the numbers of "@@ -12,3 +14,5 @@". */
static void begin_hunk(struct diff *diff, struct str line, bool is_first)
{
	unsigned long old = 1, new = 1;
	char head[64];
	snprintf(head, sizeof(head), "%.*s", STR_ARG(str_n(line.ptr, line.len < 60 ? line.len : 60)));
	if (sscanf(head, "@@ -%lu", &old) != 1 || !strchr(head, '+') || sscanf(strchr(head, '+'), "+%lu", &new) != 1)
		old = new = 1;
	diff->old = old;
	diff->new = new;
	diff->code = (struct term_code){.language = diff->code.language};
	if (!is_first && !is_over(diff))
		tui_page_write(diff->page, &more_look, STR("⋮"));
}

static void write_hunks(struct diff *diff, struct str rest)
{
	struct str line;
	bool is_first = true;
	while (str_next_line(&rest, &line)) {
		char sign = line.len ? line.ptr[0] : ' ';
		if (str_has_prefix(line, "@@")) {
			begin_hunk(diff, line, is_first);
			is_first = false;
		} else if (sign == '+' || sign == '-' || sign == ' ') {
			write_line(diff, sign, str_skip(line, line.len ? 1 : 0));
		}
	}
}

static void write_content(struct diff *diff, char sign, struct str rest)
{
	struct str line;
	while (str_next_line(&rest, &line))
		write_line(diff, sign, line);
}

static void write_change(struct tui_page *page, const struct tui_change *change)
{
	struct diff diff = {.page = page, .old = 1, .new = 1};
	struct count count = count_change(change);
	char more[64];
	term_code_init(&diff.code, term_code_name(change->path));
	if (change->kind == CHANGE_edited)
		write_hunks(&diff, change->text);
	else if (change->kind == CHANGE_added)
		write_content(&diff, '+', change->text);
	else
		write_content(&diff, '-', change->text);
	snprintf(more, sizeof(more), "… (%zu changed lines in all)", count.added + count.removed);
	if (diff.is_cut)
		tui_page_write(page, &more_look, str_of(more));
}

/* ---- cells ---- */

/* Appends a path; in the working folder, relative to it. */
static void append_path(struct buf *out, const struct tui_page *page, struct str path)
{
	struct str rest = path;
	if (page->cwd && str_cut_prefix(&rest, page->cwd) && str_cut_prefix(&rest, "/"))
		path = rest;
	text_append_line(out, path);
}

static void append_name(struct buf *out, const struct tui_page *page, const struct tui_change *change)
{
	struct count count = count_change(change);
	append_path(out, page, change->path);
	if (change->move_path.len) {
		buf_append_c(out, " → ");
		append_path(out, page, change->move_path);
	}
	buf_printf(out, " (+%zu -%zu)", count.added, count.removed);
}

static void write_one(struct tui_page *page, const struct tui_change *change)
{
	auto_buf struct buf title;
	buf_init(&title, LIMIT_LINE);
	buf_append_c(&title, verbs[change->kind]);
	append_name(&title, page, change);
	tui_page_cell(page, &title_look, buf_str(&title));
	write_change(page, change);
}

void tui_cell_patch(struct tui_page *page, const struct tui_change *changes, size_t count)
{
	struct count total = {0};
	if (count == 1)
		write_one(page, changes);
	if (count < 2)
		return;
	auto_buf struct buf title;
	buf_init(&title, LIMIT_LINE);
	for (size_t i = 0; i < count; i++) {
		struct count one = count_change(&changes[i]);
		total.added += one.added;
		total.removed += one.removed;
	}
	buf_printf(&title, "Edited %zu files (+%zu -%zu)", count, total.added, total.removed);
	tui_page_cell(page, &title_look, buf_str(&title));
	for (size_t i = 0; i < count; i++) {
		buf_clear(&title);
		buf_append_c(&title, changes[i].kind == CHANGE_deleted ? verbs[CHANGE_deleted] : "");
		append_name(&title, page, &changes[i]);
		tui_page_write(page, &file_look, buf_str(&title));
		write_change(page, &changes[i]);
	}
}

static struct tui_change change_of(struct str path, const struct file_change *change)
{
	if (change->tag == file_change_add)
		return (struct tui_change){CHANGE_added, .path = path, .text = change->add->content};
	if (change->tag == file_change_delete)
		return (struct tui_change){CHANGE_deleted, .path = path, .text = change->delete->content};
	return (struct tui_change){CHANGE_edited, path, change->update->move_path, change->update->unified_diff};
}

void tui_cell_changes(struct tui_page *page, const struct str *paths, const struct file_change *changes, size_t count)
{
	auto_free struct tui_change *list = xcalloc(count ? count : 1, sizeof(*list));
	for (size_t i = 0; i < count; i++)
		list[i] = change_of(paths[i], &changes[i]);
	tui_cell_patch(page, list, count);
}

bool tui_changes_are_cut(const struct file_change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tui_change change = change_of(STR(""), &changes[i]);
		struct str line;
		size_t lines = 0;
		while (str_next_line(&change.text, &line)) {
			lines += !str_has_prefix(line, "@@");
			if (lines > LINES_SHOWN || line.len > LINE_BYTES)
				return true;
		}
	}
	return false;
}

void tui_changes_append(struct buf *out, const struct str *paths, const struct file_change *changes, size_t count)
{
	static const char *const signs[] = {[CHANGE_added] = "+", [CHANGE_deleted] = "-", [CHANGE_edited] = ""};
	for (size_t i = 0; i < count; i++) {
		struct tui_change change = change_of(paths[i], &changes[i]);
		struct str line;
		buf_printf(out, "\n%s", verbs[change.kind]);
		text_append_line(out, change.path);
		buf_append_c(out, change.move_path.len ? " → " : "");
		text_append_line(out, change.move_path.len ? change.move_path : STR(""));
		buf_append_char(out, '\n');
		while (str_next_line(&change.text, &line)) {
			buf_append_c(out, signs[change.kind]);
			buf_append_str(out, line);
			buf_append_char(out, '\n');
		}
	}
}
