/* Tab moves the focus from the rows to the three filters and back; the arrows change the filter that has it. */
#include "ui/tui/tui_picker.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "term/term_keys.h"
#include "term/term_row.h"
#include "term/term_width.h"
#include "ui/sessions/session_pick.h"
#include "ui/tui/tui_limits.h"
#include "ui/tui/tui_sheet.h"

enum { SEARCH_MAX = 200, ROWS_AROUND = 5, FOCUS_ROWS = 3, EXPANDED_ROWS = 4, FILTER_COLUMNS = 72 };

static const char *const filters[][3] = {
	{"Filter:", "Cwd", "All"}, {"Status:", "Active", "Archived"}, {"Sort:", "Updated", "Created"}};

struct tui_picker {
	const char *title, *escape;
	struct term_row row;
	bool is_filtered[FOCUS_ROWS]; /* the second choice of each filter */
	bool is_loading, is_wide, is_expanded;
	struct session_rows rows;
	VEC(size_t) found; /* rows that match */
	size_t at;         /* in found */
	unsigned focus;    /* a filter, or FOCUS_ROWS */
	size_t room;       /* rows on the last screen */
	struct buf search;
};

struct tui_picker *tui_picker_create(const char *title, const char *escape, bool has_color, struct picker_filter filter)
{
	struct tui_picker *picker = xnew(struct tui_picker);
	picker->title = title;
	picker->escape = escape;
	picker->is_filtered[0] = filter.all;
	picker->is_filtered[1] = filter.archived;
	picker->is_filtered[2] = filter.by_start;
	picker->is_loading = true;
	picker->focus = FOCUS_ROWS;
	picker->room = 1;
	term_row_init(&picker->row, 1, has_color);
	buf_init(&picker->search, SEARCH_MAX);
	return picker;
}

void tui_picker_destroy(struct tui_picker *picker)
{
	if (!picker)
		return;
	session_rows_finish(&picker->rows);
	vec_finish(&picker->found);
	term_row_finish(&picker->row);
	buf_finish(&picker->search);
	free(picker);
}

struct picker_filter tui_picker_filter(const struct tui_picker *picker)
{
	return (struct picker_filter){picker->is_filtered[0], picker->is_filtered[1], picker->is_filtered[2]};
}

static void search(struct tui_picker *picker)
{
	picker->found.count = picker->at = 0;
	for (size_t i = 0; i < picker->rows.items.count; i++) {
		if (str_contains_fold(str_of(picker->rows.items.items[i].text), buf_str(&picker->search)))
			vec_push(&picker->found, i);
	}
}

void tui_picker_fill(struct tui_picker *picker, struct session_rows *rows)
{
	session_rows_finish(&picker->rows);
	picker->rows = *rows;
	*rows = (struct session_rows){0};
	picker->is_loading = false;
	search(picker);
}

const char *tui_picker_path(const struct tui_picker *picker)
{
	return picker->at < picker->found.count ? picker->rows.items.items[picker->found.items[picker->at]].path : NULL;
}

/* ---- keys ---- */

static enum picker_answer on_ctrl(struct tui_picker *picker, char c)
{
	bool has_row = tui_picker_path(picker) && !picker->is_loading;
	switch (c) {
	case 'c':
		return PICKER_QUITS;
	case 't':
		return has_row ? PICKER_PREVIEWS : PICKER_STAYS;
	case 'a':
		return has_row ? PICKER_MOVES : PICKER_STAYS;
	case 'o':
		picker->is_wide = !picker->is_wide;
		return PICKER_STAYS;
	case 'e':
		picker->is_expanded = !picker->is_expanded;
		return PICKER_STAYS;
	default:
		return PICKER_STAYS;
	}
}

static enum picker_answer on_escape(struct tui_picker *picker)
{
	if (!picker->search.len)
		return PICKER_ESCAPES;
	buf_clear(&picker->search);
	search(picker);
	return PICKER_STAYS;
}

static void move(struct tui_picker *picker, ptrdiff_t by)
{
	ptrdiff_t last = (ptrdiff_t)picker->found.count - 1, at = (ptrdiff_t)picker->at + by;
	picker->at = (size_t)(at > last ? last : at);
	if (last < 0 || at < 0)
		picker->at = 0;
}

static enum picker_answer change_filter(struct tui_picker *picker)
{
	if (picker->focus == FOCUS_ROWS)
		return PICKER_STAYS;
	picker->is_filtered[picker->focus] = !picker->is_filtered[picker->focus];
	picker->is_loading = true;
	return PICKER_RELOADS;
}

static enum picker_answer on_named(struct tui_picker *picker, enum term_key_name name)
{
	ptrdiff_t page = (ptrdiff_t)picker->room;
	switch (name) {
	case KEY_escape:
		return on_escape(picker);
	case KEY_enter:
		return tui_picker_path(picker) && !picker->is_loading ? PICKER_TAKES : PICKER_STAYS;
	case KEY_tab:
		picker->focus = (picker->focus + 1) % (FOCUS_ROWS + 1);
		return PICKER_STAYS;
	case KEY_left:
	case KEY_right:
		return change_filter(picker);
	case KEY_up:
	case KEY_down:
		move(picker, name == KEY_up ? -1 : 1);
		return PICKER_STAYS;
	case KEY_page_up:
	case KEY_page_down:
		move(picker, name == KEY_page_up ? -page : page);
		return PICKER_STAYS;
	case KEY_home:
	case KEY_end:
		move(picker, (ptrdiff_t)picker->found.count * (name == KEY_home ? -1 : 1));
		return PICKER_STAYS;
	case KEY_backspace:
		buf_truncate(&picker->search, picker->search.len - term_cluster_last(buf_str(&picker->search)));
		search(picker);
		return PICKER_STAYS;
	default:
		return PICKER_STAYS;
	}
}

enum picker_answer tui_picker_key(struct tui_picker *picker, const struct term_key *key)
{
	if (key->kind == TERM_NAMED)
		return on_named(picker, key->name);
	if (key->kind == TERM_CHAR && key->mods == TERM_CTRL)
		return on_ctrl(picker, key->text.ptr[0]);
	if (key->kind != TERM_CHAR || key->mods)
		return PICKER_STAYS;
	buf_append_str(&picker->search, key->text);
	search(picker);
	return PICKER_STAYS;
}

/* ---- drawing ---- */

static void put(struct tui_picker *picker, struct buf *out, size_t *line)
{
	buf_printf(out, "\x1b[%zu;1H", (*line)++);
	buf_append_str(out, buf_str(&picker->row.text));
	buf_append_c(out, "\x1b[K");
	term_row_clear(&picker->row);
}

/* A narrow window shows the filter that has the focus, or the first one, with its choice. */
static void draw_filters(struct tui_picker *picker, struct buf *out, size_t *line)
{
	bool is_narrow = picker->row.width < FILTER_COLUMNS;
	for (unsigned i = 0; i < FOCUS_ROWS; i++) {
		if (is_narrow && i != picker->focus % FOCUS_ROWS)
			continue;
		term_row_add_c(&picker->row, picker->focus == i ? TERM_cyan : TERM_plain,
		               picker->focus == i ? "› " : "  ");
		term_row_add_c(&picker->row, TERM_dim, filters[i][0]);
		for (unsigned k = 0; k < 2; k++) {
			bool is_on = picker->is_filtered[i] == (k == 1);
			if (is_narrow && !is_on)
				continue;
			term_row_add_c(&picker->row, TERM_plain, is_on ? " [" : " ");
			term_row_add_c(&picker->row, is_on ? TERM_bold : TERM_dim, filters[i][k + 1]);
			term_row_add_c(&picker->row, TERM_plain, is_on ? "]" : "");
		}
	}
	put(picker, out, line);
	term_row_add_c(&picker->row, TERM_plain, "  Search: ");
	term_row_add(&picker->row, TERM_bold, buf_str(&picker->search));
	put(picker, out, line);
}

/* Returns how many rows the chosen session has besides its first one. */
static size_t more_rows(const struct tui_picker *picker)
{
	struct str part, text = STR("");
	size_t count = 0;
	if (picker->is_expanded && picker->at < picker->found.count)
		text = str_of(picker->rows.items.items[picker->found.items[picker->at]].text);
	while (count < EXPANDED_ROWS && term_cut_next(&text, picker->row.width - 2, &part))
		count++;
	return count ? count - 1 : 0;
}

/* Draws one session; the chosen one has all its rows if the user wants to see them. */
static void draw_session(struct tui_picker *picker, size_t index, struct buf *out, size_t *line, size_t end)
{
	bool is_chosen = index == picker->at;
	struct str text = str_of(picker->rows.items.items[picker->found.items[index]].text), part;
	size_t most = is_chosen && picker->is_expanded ? EXPANDED_ROWS : 1;
	for (size_t i = 0; i < most && *line < end && term_cut_next(&text, picker->row.width - 2, &part); i++) {
		term_row_add_c(&picker->row, TERM_cyan, is_chosen && !i ? "› " : "  ");
		term_row_add(&picker->row, is_chosen ? TERM_cyan : TERM_plain, part);
		put(picker, out, line);
	}
	if (picker->is_wide && *line < end)
		put(picker, out, line);
}

/* Returns how many sessions are not shown. */
static struct sheet_rest draw_sessions(struct tui_picker *picker, struct buf *out, size_t *line, size_t end)
{
	size_t room = end > *line ? end - *line : 1, more = more_rows(picker);
	room = room > more ? room - more : 1;
	picker->room = picker->is_wide ? (room + 1) / 2 : room;
	size_t from = sheet_window(picker->found.count, picker->at, picker->room), at = from;
	if (picker->is_loading || !picker->found.count) {
		term_row_add_c(&picker->row, TERM_dim, picker->is_loading ? "  reading …" : "  no session matches");
		put(picker, out, line);
	}
	for (; !picker->is_loading && at < picker->found.count && *line < end; at++)
		draw_session(picker, at, out, line, end);
	while (*line < end)
		put(picker, out, line);
	return picker->is_loading ? (struct sheet_rest){0} : sheet_rest_of(picker->found.count, from, at - from);
}

void tui_picker_draw(struct tui_picker *picker, size_t rows, size_t columns, struct buf *out)
{
	size_t line = 2, end = rows > ROWS_AROUND ? rows : ROWS_AROUND;
	char hint[160];
	bool has_color = picker->row.has_color;
	term_row_finish(&picker->row);
	term_row_init(&picker->row, columns > 4 ? columns : 4, has_color);
	buf_append_c(out, "\x1b[?2026h\x1b[?25l");
	draw_filters(picker, out, &line);
	struct sheet_rest rest = draw_sessions(picker, out, &line, end);
	snprintf(hint, sizeof(hint), "  esc %s · tab filter · ctrl-t view · ctrl-a %s · ctrl-e expand · ctrl-o rows",
	         picker->escape, picker->is_filtered[1] ? "unarchive" : "archive");
	term_row_add_c(&picker->row, TERM_dim, hint);
	put(picker, out, &line);
	sheet_add_title(&picker->row, TERM_bold, str_of(picker->title), rest);
	put(picker, out, &(size_t){1});
	buf_append_c(out, "\x1b[?2026l");
}
