/* The text is one buffer with an offset: messages are small, so each change copies it. A paste stands in the text as
 * its mark, and is put in its place when the text is taken. */
#include "ui/tui/tui_composer.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "term/term_paint.h"
#include "term/term_row.h"
#include "term/term_width.h"

enum { TEXT_MAX = 1 * MIB, HISTORY_MAX = 1000, PASTES_MAX = 256, INDENT = 2 };

void composer_init(struct composer *composer)
{
	*composer = (struct composer){0};
	buf_init(&composer->text, TEXT_MAX);
	buf_init(&composer->killed, TEXT_MAX);
	buf_init(&composer->draft, TEXT_MAX);
}

static void drop_pastes(struct composer *composer)
{
	vec_for_each(paste, &composer->pastes) {
		free(paste->mark);
		free(paste->text);
	}
	composer->pastes.count = 0;
}

void composer_finish(struct composer *composer)
{
	drop_pastes(composer);
	vec_finish(&composer->pastes);
	vec_for_each(entry, &composer->history)
		free(*entry);
	vec_finish(&composer->history);
	buf_finish(&composer->text);
	buf_finish(&composer->killed);
	buf_finish(&composer->draft);
}

struct str composer_text(const struct composer *composer)
{
	return buf_str(&composer->text);
}

bool composer_is_empty(const struct composer *composer)
{
	return composer->text.len == 0;
}

static struct str before(const struct composer *composer)
{
	return str_n(composer_text(composer).ptr, composer->caret);
}

static struct str after(const struct composer *composer)
{
	return str_skip(composer_text(composer), composer->caret);
}

/* ---- changes ---- */

/* Replaces text[from, to) and leaves the caret after the replacement. Text that does not fit is not inserted. */
static void replace(struct composer *composer, size_t from, size_t to, struct str with)
{
	auto_buf struct buf text;
	buf_init(&text, TEXT_MAX);
	buf_append(&text, composer->text.data, from);
	buf_append_str(&text, with);
	size_t caret = text.len;
	if (to < composer->text.len)
		buf_append(&text, composer->text.data + to, composer->text.len - to);
	if (text.over)
		return;
	struct buf old = composer->text;
	composer->text = text;
	composer->caret = caret;
	text = old;
}

static void kill_range(struct composer *composer, size_t from, size_t to)
{
	if (from == to)
		return;
	buf_clear(&composer->killed);
	buf_append(&composer->killed, composer->text.data + from, to - from);
	replace(composer, from, to, STR(""));
}

void composer_set(struct composer *composer, struct str text)
{
	replace(composer, 0, composer->text.len, text);
}

void composer_paste(struct composer *composer, struct str text)
{
	size_t count = text_char_count(text);
	if (count <= COMPOSER_PASTE_SHOWN || composer->pastes.count == PASTES_MAX) {
		replace(composer, composer->caret, composer->caret, text);
		return;
	}
	struct composer_paste paste = {.mark = xasprintf("[Pasted Content %zu chars]", count), .text = str_dup(text)};
	vec_push(&composer->pastes, paste);
	replace(composer, composer->caret, composer->caret, str_of(paste.mark));
}

static void append_expanded(const struct composer *composer, struct buf *out)
{
	struct str rest = composer_text(composer);
	vec_for_each(paste, &composer->pastes) {
		ptrdiff_t at = str_find(rest, str_of(paste->mark));
		if (at < 0)
			continue;
		buf_append(out, rest.ptr, (size_t)at);
		buf_append_c(out, paste->text);
		rest = str_skip(rest, (size_t)at + strlen(paste->mark));
	}
	buf_append_str(out, rest);
}

static void remember(struct composer *composer, struct str text)
{
	size_t count = composer->history.count;
	if (count && str_is(text, composer->history.items[count - 1]))
		return;
	if (count == HISTORY_MAX) {
		free(composer->history.items[0]);
		memmove(composer->history.items, composer->history.items + 1, (count - 1) * sizeof(char *));
		composer->history.count--;
	}
	vec_push(&composer->history, str_dup(text));
}

void composer_take(struct composer *composer, struct buf *out)
{
	size_t from = out->len;
	append_expanded(composer, out);
	remember(composer, str_skip(buf_str(out), from));
	composer->at = composer->history.count;
	drop_pastes(composer);
	composer_set(composer, STR(""));
}

/* ---- places ---- */

static size_t line_start(const struct composer *composer)
{
	return (size_t)(str_rfind_char(before(composer), '\n') + 1);
}

static size_t line_end(const struct composer *composer)
{
	ptrdiff_t at = str_find_char(after(composer), '\n');
	return at < 0 ? composer->text.len : composer->caret + (size_t)at;
}

static bool is_word(char c)
{
	return (c & 0x80) || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t word_start(const struct composer *composer)
{
	size_t at = composer->caret;
	while (at && !is_word(composer->text.data[at - 1]))
		at--;
	while (at && is_word(composer->text.data[at - 1]))
		at--;
	return at;
}

static size_t word_end(const struct composer *composer)
{
	size_t at = composer->caret;
	while (at < composer->text.len && !is_word(composer->text.data[at]))
		at++;
	while (at < composer->text.len && is_word(composer->text.data[at]))
		at++;
	return at;
}

/* Returns the start of what Backspace removes: a cluster, or a paste. */
static size_t unit_start(const struct composer *composer)
{
	vec_for_each(paste, &composer->pastes) {
		if (str_has_suffix(before(composer), paste->mark))
			return composer->caret - strlen(paste->mark);
	}
	return composer->caret - term_cluster_last(before(composer));
}

static size_t unit_end(const struct composer *composer)
{
	struct str rest = after(composer);
	return composer->caret + (rest.len ? term_cluster_next(rest).bytes.len : 0);
}

/* Returns the offset of a column in the line that begins at `start`. */
static size_t place_in_line(const struct composer *composer, size_t start, size_t column)
{
	size_t at = start, width = 0;
	while (at < composer->text.len && composer->text.data[at] != '\n') {
		struct term_cluster cluster = term_cluster_next(str_skip(composer_text(composer), at));
		if (width + cluster.width > column)
			break;
		width += cluster.width;
		at += cluster.bytes.len;
	}
	return at;
}

/* ---- actions ---- */

static void edit_line_start(struct composer *composer)
{
	composer->caret = line_start(composer);
}

static void edit_line_end(struct composer *composer)
{
	composer->caret = line_end(composer);
}

static void edit_left(struct composer *composer)
{
	composer->caret = unit_start(composer);
}

static void edit_right(struct composer *composer)
{
	composer->caret = unit_end(composer);
}

static void edit_word_left(struct composer *composer)
{
	composer->caret = word_start(composer);
}

static void edit_word_right(struct composer *composer)
{
	composer->caret = word_end(composer);
}

static void edit_backspace(struct composer *composer)
{
	replace(composer, unit_start(composer), composer->caret, STR(""));
}

static void edit_delete(struct composer *composer)
{
	replace(composer, composer->caret, unit_end(composer), STR(""));
}

static void edit_kill_word(struct composer *composer)
{
	kill_range(composer, word_start(composer), composer->caret);
}

static void edit_kill_next_word(struct composer *composer)
{
	kill_range(composer, composer->caret, word_end(composer));
}

static void edit_kill_to_start(struct composer *composer)
{
	size_t start = line_start(composer);
	kill_range(composer, start == composer->caret && start ? start - 1 : start, composer->caret);
}

static void edit_kill_to_end(struct composer *composer)
{
	size_t end = line_end(composer), caret = composer->caret;
	kill_range(composer, caret, end == caret && end < composer->text.len ? end + 1 : end);
	composer->caret = caret;
}

static void edit_yank(struct composer *composer)
{
	replace(composer, composer->caret, composer->caret, buf_str(&composer->killed));
}

static void edit_newline(struct composer *composer)
{
	replace(composer, composer->caret, composer->caret, STR("\n"));
}

/* Shows another entry of the history; the draft is kept. */
static void recall(struct composer *composer, size_t at)
{
	if (composer->at == composer->history.count) {
		buf_clear(&composer->draft);
		buf_append_str(&composer->draft, composer_text(composer));
	}
	composer->at = at;
	composer_set(composer,
	             at == composer->history.count ? buf_str(&composer->draft) : str_of(composer->history.items[at]));
}

static void edit_up(struct composer *composer)
{
	size_t start = line_start(composer);
	size_t column = term_width(str_n(composer_text(composer).ptr + start, composer->caret - start));
	if (start == 0 && composer->at > 0)
		recall(composer, composer->at - 1);
	if (start == 0)
		return;
	composer->caret = start - 1;
	composer->caret = place_in_line(composer, line_start(composer), column);
}

static void edit_down(struct composer *composer)
{
	size_t start = line_start(composer), end = line_end(composer);
	size_t column = term_width(str_n(composer_text(composer).ptr + start, composer->caret - start));
	if (end < composer->text.len)
		composer->caret = place_in_line(composer, end + 1, column);
	else if (composer->at < composer->history.count)
		recall(composer, composer->at + 1);
}

/* ---- keys ---- */

static const struct {
	enum term_key_kind kind;
	unsigned mods;
	int code; /* a character, or a name */
	void (*run)(struct composer *composer);
} edits[] = {
#define EDIT_CTRL(c, action) {TERM_CHAR, TERM_CTRL, c, edit_##action},
#define EDIT_ALT(c, action) {TERM_CHAR, TERM_ALT, c, edit_##action},
#define EDIT_KEY(mods, name, action) {TERM_NAMED, mods, KEY_##name, edit_##action},
#include "ui/tui/tui_edit.def"
#undef EDIT_CTRL
#undef EDIT_ALT
#undef EDIT_KEY
};

bool composer_key(struct composer *composer, const struct term_key *key)
{
	int code = key->kind == TERM_NAMED ? (int)key->name : (unsigned char)key->text.ptr[0];
	if (key->kind == TERM_CHAR && !key->mods) {
		replace(composer, composer->caret, composer->caret, key->text);
		return true;
	}
	for (size_t i = 0; i < countof(edits); i++) {
		if (edits[i].kind == key->kind && edits[i].mods == key->mods && edits[i].code == code) {
			edits[i].run(composer);
			return true;
		}
	}
	return false;
}

/* ---- rows ---- */

/* Cuts the next row off *rest; *ret_ends: a line end follows it, which is cut off too. */
static struct str cut_row(struct str *rest, size_t columns, bool *ret_ends)
{
	size_t at = 0, width = 0;
	while (at < rest->len && rest->ptr[at] != '\n') {
		struct term_cluster cluster = term_cluster_next(str_skip(*rest, at));
		if (width + cluster.width > columns && at)
			break;
		width += cluster.width;
		at += cluster.bytes.len;
	}
	struct str row = str_n(rest->ptr, at);
	*ret_ends = at < rest->len && rest->ptr[at] == '\n';
	*rest = str_skip(*rest, at + *ret_ends);
	return row;
}

/* Calls draw for each row, or only counts; returns the row of the caret. */
static size_t walk(const struct composer *composer, size_t columns, size_t *ret_rows,
                   void (*draw)(struct str row, size_t index, size_t caret, void *self), void *self)
{
	struct str rest = composer_text(composer);
	size_t index = 0, at = 0, caret_row = 0;
	bool ends;
	do {
		size_t from = at;
		struct str row = cut_row(&rest, columns, &ends);
		bool is_last = !rest.len && !ends;
		at += row.len + ends;
		bool has_caret = composer->caret >= from && (composer->caret < at || is_last);
		caret_row = has_caret ? index : caret_row;
		if (draw)
			draw(row, index, has_caret ? composer->caret - from : SIZE_MAX, self);
		index++;
		if (is_last)
			break;
	} while (true);
	*ret_rows = index;
	return caret_row;
}

struct drawing {
	struct term_paint *paint;
	struct term_row *row;
	size_t top, most;
};

static void draw_row(struct str text, size_t index, size_t caret, void *self)
{
	struct drawing *drawing = self;
	if (index < drawing->top || index >= drawing->top + drawing->most)
		return;
	term_row_clear(drawing->row);
	term_row_add_c(drawing->row, TERM_bold, index == 0 ? "›" : " ");
	term_row_add_c(drawing->row, TERM_plain, " ");
	term_row_add(drawing->row, TERM_plain, text);
	size_t at = term_paint_live(drawing->paint, drawing->row);
	if (caret != SIZE_MAX)
		term_paint_caret(drawing->paint, at, INDENT + term_width(str_n(text.ptr, caret)));
}

size_t composer_draw(const struct composer *composer, struct term_paint *paint, struct term_row *row, size_t columns,
                     size_t most)
{
	size_t rows, width = columns > INDENT + 2 ? columns - INDENT : 2;
	size_t caret_row = walk(composer, width, &rows, NULL, NULL);
	struct drawing drawing = {paint, row, 0, most};
	if (rows > most)
		drawing.top = caret_row < most / 2 ? 0 : caret_row - most / 2;
	if (rows > most && drawing.top + most > rows)
		drawing.top = rows - most;
	walk(composer, width, &rows, draw_row, &drawing);
	return rows < most ? rows : most;
}
