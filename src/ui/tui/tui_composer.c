/* The text is one buffer with an offset: text typed at its end moves nothing. A paste stands in the text as its mark,
 * and is put in its place when the text is taken. */
#include "ui/tui/tui_composer.h"

#include "base/limits.h"
#include "base/text.h"
#include "term/term_width.h"
#include "ui/tui/tui_composer_priv.h"

void composer_init(struct composer *composer)
{
	*composer = (struct composer){0};
	buf_init(&composer->text, LIMIT_TUI_COMPOSER);
	buf_init(&composer->killed, LIMIT_TUI_COMPOSER);
	buf_init(&composer->draft, LIMIT_TUI_COMPOSER);
	buf_init(&composer->search, LIMIT_TUI_SEARCH);
	buf_init(&composer->vim.undo, LIMIT_TUI_COMPOSER);
}

void composer_finish(struct composer *composer)
{
	composer_drop_marks(composer);
	vec_finish(&composer->marks);
	vec_for_each(entry, &composer->history)
		free(*entry);
	vec_finish(&composer->history);
	buf_finish(&composer->text);
	buf_finish(&composer->killed);
	buf_finish(&composer->draft);
	buf_finish(&composer->search);
	buf_finish(&composer->vim.undo);
}

struct str composer_text(const struct composer *composer)
{
	return buf_str(&composer->text);
}

bool composer_is_empty(const struct composer *composer)
{
	return composer->text.len == 0 && !composer->is_shell;
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

void composer_replace(struct composer *composer, size_t from, size_t to, struct str with)
{
	struct buf *text = &composer->text;
	size_t after = text->len - to;
	if (with.len > LIMIT_TUI_COMPOSER - (text->len - (to - from)))
		return;
	if (with.len > to - from && !buf_reserve(text, with.len - (to - from)))
		return;
	if (text->data) {
		memmove(text->data + from + with.len, text->data + to, after);
		memcpy(text->data + from, with.ptr ? with.ptr : "", with.len);
		text->len = from + with.len + after;
		text->data[text->len] = '\0';
	}
	composer->caret = from + with.len;
}

static void insert(struct composer *composer, struct str text)
{
	composer_replace(composer, composer->caret, composer->caret, text);
}

void composer_kill(struct composer *composer, size_t from, size_t to)
{
	if (from == to)
		return;
	auto_buf struct buf before = composer->killed;
	bool is_after = from == composer->caret;
	composer->has_killed = true;
	buf_init(&composer->killed, LIMIT_TUI_COMPOSER);
	if (composer->joins && is_after)
		buf_append_str(&composer->killed, buf_str(&before));
	buf_append(&composer->killed, composer->text.data + from, to - from);
	if (composer->joins && !is_after)
		buf_append_str(&composer->killed, buf_str(&before));
	composer_replace(composer, from, to, STR(""));
}

void composer_set(struct composer *composer, struct str text)
{
	composer->is_shell = str_cut_prefix(&text, "!");
	composer_replace(composer, 0, composer->text.len, text);
}

void composer_insert(struct composer *composer, struct str text)
{
	insert(composer, text);
}

struct str composer_word(const struct composer *composer, size_t *ret_from)
{
	size_t from = composer->caret;
	while (from && !strchr(" \n\t", composer->text.data[from - 1]))
		from--;
	*ret_from = from;
	return str_n(composer_text(composer).ptr + from, composer->caret - from);
}

void composer_complete(struct composer *composer, size_t from, struct str with)
{
	composer_replace(composer, from, composer->caret, with);
}

/* ---- places ---- */

size_t composer_line_start(const struct composer *composer)
{
	return (size_t)(str_rfind_char(before(composer), '\n') + 1);
}

size_t composer_line_end(const struct composer *composer)
{
	ptrdiff_t at = str_find_char(after(composer), '\n');
	return at < 0 ? composer->text.len : composer->caret + (size_t)at;
}

bool composer_is_word(char c)
{
	return (c & 0x80) || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

size_t composer_word_start(const struct composer *composer)
{
	size_t at = composer->caret;
	while (at && !composer_is_word(composer->text.data[at - 1]))
		at--;
	while (at && composer_is_word(composer->text.data[at - 1]))
		at--;
	return at;
}

size_t composer_word_end(const struct composer *composer)
{
	size_t at = composer->caret;
	while (at < composer->text.len && !composer_is_word(composer->text.data[at]))
		at++;
	while (at < composer->text.len && composer_is_word(composer->text.data[at]))
		at++;
	return at;
}

/* Returns the start of what Backspace removes: a cluster, or a mark. */
size_t composer_unit_start(const struct composer *composer)
{
	vec_for_each(mark, &composer->marks) {
		if (str_has_suffix(before(composer), mark->mark))
			return composer->caret - strlen(mark->mark);
	}
	return composer->caret - term_cluster_last(before(composer));
}

size_t composer_unit_end(const struct composer *composer)
{
	struct str rest = after(composer);
	vec_for_each(mark, &composer->marks) {
		if (str_has_prefix(rest, mark->mark))
			return composer->caret + strlen(mark->mark);
	}
	return composer->caret + (rest.len ? term_cluster_next(rest).bytes.len : 0);
}

void composer_leave_mark(struct composer *composer, bool is_forward)
{
	vec_for_each(mark, &composer->marks) {
		size_t len = strlen(mark->mark);
		ptrdiff_t at = str_find(composer_text(composer), str_of(mark->mark));
		if (at >= 0 && composer->caret > (size_t)at && composer->caret < (size_t)at + len)
			composer->caret = (size_t)at + (is_forward ? len : 0);
	}
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
	composer->caret = composer_line_start(composer);
}

static void edit_line_end(struct composer *composer)
{
	composer->caret = composer_line_end(composer);
}

static void edit_left(struct composer *composer)
{
	composer->caret = composer_unit_start(composer);
}

static void edit_right(struct composer *composer)
{
	composer->caret = composer_unit_end(composer);
}

static void edit_word_left(struct composer *composer)
{
	composer->caret = composer_word_start(composer);
}

static void edit_word_right(struct composer *composer)
{
	composer->caret = composer_word_end(composer);
}

static void edit_backspace(struct composer *composer)
{
	if (!composer->caret)
		composer->is_shell = false;
	composer_replace(composer, composer_unit_start(composer), composer->caret, STR(""));
}

static void edit_delete(struct composer *composer)
{
	composer_replace(composer, composer->caret, composer_unit_end(composer), STR(""));
}

static void edit_kill_word(struct composer *composer)
{
	composer_kill(composer, composer_word_start(composer), composer->caret);
}

static void edit_kill_next_word(struct composer *composer)
{
	composer_kill(composer, composer->caret, composer_word_end(composer));
}

static void edit_kill_to_start(struct composer *composer)
{
	size_t start = composer_line_start(composer);
	composer_kill(composer, start == composer->caret && start ? start - 1 : start, composer->caret);
}

static void edit_kill_to_end(struct composer *composer)
{
	size_t end = composer_line_end(composer), caret = composer->caret;
	composer_kill(composer, caret, end == caret && end < composer->text.len ? end + 1 : end);
	composer->caret = caret;
}

static void edit_yank(struct composer *composer)
{
	insert(composer, buf_str(&composer->killed));
}

static void edit_search(struct composer *composer)
{
	composer_search_begin(composer);
}

static void edit_newline(struct composer *composer)
{
	insert(composer, STR("\n"));
}

void composer_up(struct composer *composer)
{
	size_t start = composer_line_start(composer);
	size_t column = term_width(str_n(composer_text(composer).ptr + start, composer->caret - start));
	if (start == 0 && composer->at > 0)
		composer_recall(composer, composer->at - 1);
	if (start == 0)
		return;
	composer->caret = start - 1;
	composer->caret = place_in_line(composer, composer_line_start(composer), column);
}

void composer_down(struct composer *composer)
{
	size_t start = composer_line_start(composer), end = composer_line_end(composer);
	size_t column = term_width(str_n(composer_text(composer).ptr + start, composer->caret - start));
	if (end < composer->text.len)
		composer->caret = place_in_line(composer, end + 1, column);
	else if (composer->at < composer->history.count)
		composer_recall(composer, composer->at + 1);
}

static void edit_up(struct composer *composer)
{
	composer_up(composer);
}

static void edit_down(struct composer *composer)
{
	composer_down(composer);
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
#include "ui/tui/tui_limits.h"
#undef EDIT_CTRL
#undef EDIT_ALT
#undef EDIT_KEY
};

static void type(struct composer *composer, struct str text)
{
	if (composer_is_empty(composer) && str_is(text, "!"))
		composer->is_shell = true;
	else
		insert(composer, text);
}

static bool edit(struct composer *composer, const struct term_key *key)
{
	int code = key->kind == TERM_NAMED ? (int)key->name : (unsigned char)key->text.ptr[0];
	size_t caret = composer->caret;
	for (size_t i = 0; i < countof(edits); i++) {
		if (edits[i].kind != key->kind || edits[i].mods != key->mods || edits[i].code != code)
			continue;
		edits[i].run(composer);
		composer_leave_mark(composer, composer->caret > caret);
		return true;
	}
	return false;
}

bool composer_key(struct composer *composer, const struct term_key *key)
{
	composer->joins = composer->has_killed;
	composer->has_killed = false;
	if (composer->is_searching && composer_search_key(composer, key))
		return true;
	if (key->kind == TERM_CHAR && !key->mods) {
		type(composer, key->text);
		return true;
	}
	return key->kind != TERM_PASTE && edit(composer, key);
}
