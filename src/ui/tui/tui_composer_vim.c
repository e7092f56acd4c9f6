/* Vim's normal mode in the composer. The caret stands on a cluster there, in insert mode between two. Deletions and
 * yanks set the text that Ctrl-Y inserts; a text that ends with a line break is put as lines. One change can be undone.
 */
#include "ui/tui/tui_composer_priv.h"

enum { COUNT_MAX = 999 };

void composer_set_vim(struct composer *composer, bool is_on)
{
	composer->vim.is_on = is_on;
	composer_vim_reset(composer);
}

void composer_vim_reset(struct composer *composer)
{
	composer->vim.is_normal = false;
	composer->vim.pending = 0;
	composer->vim.count = 0;
	buf_clear(&composer->vim.undo);
	composer->vim.undo_caret = 0;
}

/* ---- places ---- */

static size_t text_len(const struct composer *composer)
{
	return composer_text(composer).len;
}

static char char_at(const struct composer *composer, size_t at)
{
	return at < text_len(composer) ? composer_text(composer).ptr[at] : '\n';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t place_left(const struct composer *composer)
{
	return composer->caret > composer_line_start(composer) ? composer_unit_start(composer) : composer->caret;
}

static size_t place_right(const struct composer *composer)
{
	return composer->caret < composer_line_end(composer) ? composer_unit_end(composer) : composer->caret;
}

static size_t place_line_start(const struct composer *composer)
{
	return composer_line_start(composer);
}

static size_t place_line_end(const struct composer *composer)
{
	return composer_line_end(composer);
}

static size_t place_first_word(const struct composer *composer)
{
	size_t at = composer_line_start(composer);
	while (is_blank(char_at(composer, at)))
		at++;
	return at;
}

static size_t place_next_word(const struct composer *composer)
{
	size_t at = composer->caret, len = text_len(composer);
	while (at < len && composer_is_word(char_at(composer, at)))
		at++;
	while (at < len && !composer_is_word(char_at(composer, at)))
		at++;
	return at;
}

static size_t place_word_start(const struct composer *composer)
{
	return composer_word_start(composer);
}

/* After the end of a word; if the caret stands on a word's last cluster, of the next one. */
static size_t place_word_end(const struct composer *composer)
{
	struct composer at = *composer;
	at.caret = composer_unit_end(composer);
	return composer_word_end(&at);
}

/* cw changes the word that the caret stands on, even at its last cluster, and no blank after it. */
static size_t place_this_word_end(const struct composer *composer)
{
	return composer_is_word(char_at(composer, composer->caret)) ? composer_word_end(composer)
	                                                            : place_next_word(composer);
}

static size_t place_end(const struct composer *composer)
{
	return text_len(composer);
}

static const struct motion {
	char key;
	size_t (*place)(const struct composer *composer);
} motions[] = {
#define VIM_MOTION(key, place) {key, place_##place},
#define VIM_COMMAND(key, action)
#include "ui/tui/tui_limits.h"
#include "ui/tui/tui_vim.def"
#undef VIM_MOTION
#undef VIM_COMMAND
};

/* ---- changes ---- */

/* Keeps the text before the first change of a command. */
static void remember(struct composer *composer)
{
	if (composer->vim.is_kept)
		return;
	composer->vim.is_kept = true;
	buf_clear(&composer->vim.undo);
	buf_append_str(&composer->vim.undo, composer_text(composer));
	composer->vim.undo_caret = composer->caret;
	composer->vim.undo_is_shell = composer->is_shell;
}

/* Moves the caret out of a mark, and to the beginning of a cluster: motions count bytes of words. */
static void land(struct composer *composer, size_t from)
{
	size_t caret = composer->caret, at;
	composer_leave_mark(composer, composer->caret > from);
	caret = composer->caret;
	composer->caret = composer_line_start(composer);
	do {
		at = composer->caret;
		composer->caret = composer_unit_end(composer);
	} while (at < caret && composer->caret <= caret && composer->caret > at);
	composer->caret = at < caret && composer->caret == caret ? caret : at;
}

static void cut(struct composer *composer, size_t from, size_t to)
{
	remember(composer);
	composer_kill(composer, from, to);
}

static void insert_at(struct composer *composer, size_t place)
{
	remember(composer);
	composer->caret = place;
	composer->vim.is_normal = false;
}

static void vim_insert(struct composer *composer)
{
	insert_at(composer, composer->caret);
}

static void vim_insert_first(struct composer *composer)
{
	insert_at(composer, place_first_word(composer));
}

static void vim_append(struct composer *composer)
{
	insert_at(composer, place_right(composer));
}

static void vim_append_last(struct composer *composer)
{
	insert_at(composer, composer_line_end(composer));
}

static void vim_open_below(struct composer *composer)
{
	insert_at(composer, composer_line_end(composer));
	composer_insert(composer, STR("\n"));
}

static void vim_open_above(struct composer *composer)
{
	size_t at = composer_line_start(composer);
	insert_at(composer, at);
	composer_insert(composer, STR("\n"));
	composer->caret = at;
}

static void vim_cut(struct composer *composer)
{
	cut(composer, composer->caret, place_right(composer));
}

static void vim_cut_before(struct composer *composer)
{
	cut(composer, place_left(composer), composer->caret);
}

static void vim_substitute(struct composer *composer)
{
	vim_cut(composer);
	composer->vim.is_normal = false;
}

static void vim_cut_rest(struct composer *composer)
{
	cut(composer, composer->caret, composer_line_end(composer));
}

static void vim_change_rest(struct composer *composer)
{
	vim_cut_rest(composer);
	composer->vim.is_normal = false;
}

static void vim_down(struct composer *composer)
{
	composer_down(composer);
}

static void vim_up(struct composer *composer)
{
	composer_up(composer);
}

static void put(struct composer *composer, bool is_before)
{
	struct str text = buf_str(&composer->killed);
	bool has_lines = str_has_suffix(text, "\n");
	size_t end = composer_line_end(composer);
	remember(composer);
	if (!has_lines)
		composer->caret = is_before ? composer->caret : place_right(composer);
	else if (is_before)
		composer->caret = composer_line_start(composer);
	else if (end < text_len(composer))
		composer->caret = end + 1;
	else
		composer_replace(composer, end, end, STR("\n"));
	size_t at = composer->caret;
	composer_insert(composer, has_lines && at == text_len(composer) ? str_n(text.ptr, text.len - 1) : text);
	composer->caret = has_lines ? at : composer_unit_start(composer);
}

static void vim_put(struct composer *composer)
{
	put(composer, false);
}

static void vim_put_before(struct composer *composer)
{
	put(composer, true);
}

/* A second undo takes the first one back. */
static void vim_undo(struct composer *composer)
{
	auto_buf struct buf text;
	size_t caret = composer->vim.undo_caret;
	bool is_shell = composer->vim.undo_is_shell;
	buf_init(&text, LIMIT_TUI_COMPOSER);
	buf_append_str(&text, buf_str(&composer->vim.undo));
	remember(composer);
	composer_replace(composer, 0, text_len(composer), buf_str(&text));
	composer->caret = caret;
	composer->is_shell = is_shell;
}

static const struct command {
	char key;
	void (*run)(struct composer *composer);
} commands[] = {
#define VIM_MOTION(key, place)
#define VIM_COMMAND(key, action) {key, vim_##action},
#include "ui/tui/tui_vim.def"
#undef VIM_MOTION
#undef VIM_COMMAND
};

/* ---- operators ---- */

static void operate(struct composer *composer, char operator, size_t from, size_t to)
{
	if (operator== 'y') {
		buf_clear(&composer->killed);
		buf_append(&composer->killed, composer->text.data + from, to - from);
		composer->caret = from;
		return;
	}
	cut(composer, from, to);
	composer->vim.is_normal = operator!= 'c';
}

/* Makes of "\nlast line" or "last line" what is put as a line. */
static void end_killed_line(struct composer *composer)
{
	struct buf *killed = &composer->killed;
	if (str_has_prefix(buf_str(killed), "\n"))
		buf_consume(killed, 1);
	buf_append_char(killed, '\n');
}

static size_t end_of_lines(const struct composer *composer, unsigned count)
{
	struct composer at = *composer;
	at.caret = composer_line_end(composer);
	for (unsigned i = 1; i < count && at.caret < text_len(composer); i++) {
		at.caret++;
		at.caret = composer_line_end(&at);
	}
	return at.caret;
}

/* The operator twice: the caret's line and those below. c leaves the line break. */
static void operate_on_lines(struct composer *composer, char operator, unsigned count)
{
	size_t from = composer_line_start(composer), to = end_of_lines(composer, count);
	bool is_last = to == text_len(composer);
	if (operator!= 'c' && !is_last)
		to++;
	if (operator== 'd' && is_last && from)
		from--;
	operate(composer, operator, from, to);
	if (operator!= 'c' && is_last && to> from)
		end_killed_line(composer);
	if (operator== 'd')
		composer->caret = composer_line_start(composer);
}

static const struct motion *find_motion(char key)
{
	for (size_t i = 0; i < countof(motions); i++) {
		if (motions[i].key == key)
			return &motions[i];
	}
	return NULL;
}

/* Returns the place that the motion leads to, `count` times. */
static size_t place_of(const struct composer *composer, const struct motion *motion, unsigned count)
{
	struct composer at = *composer;
	for (unsigned i = 0; i < count; i++) {
		size_t from = at.caret;
		at.caret = motion->place(&at);
		land(&at, from);
	}
	return at.caret;
}

static void move(struct composer *composer, const struct motion *motion, unsigned count)
{
	composer->caret = place_of(composer, motion, count);
	if (motion->key == 'e' && composer->caret)
		composer->caret = composer_unit_start(composer);
}

static void operate_to(struct composer *composer, char operator, const struct motion * motion, unsigned count)
{
	static const struct motion this_word = {.place = place_this_word_end};
	struct composer last = *composer;
	bool is_change_word = operator== 'c' && motion->key == 'w'; /* of several words, the last one is changed so */
	if (is_change_word)
		last.caret = place_of(composer, motion, count - 1);
	size_t to = is_change_word ? place_of(&last, &this_word, 1) : place_of(composer, motion, count);
	size_t from = composer->caret < to ? composer->caret : to;
	operate(composer, operator, from, composer->caret < to ? to : composer->caret);
}

/* ---- keys ---- */

/* In normal mode the caret stands on a cluster of its line, if there is one. */
static void settle(struct composer *composer)
{
	if (composer->vim.is_normal && composer->caret == composer_line_end(composer))
		composer->caret = place_left(composer);
}

static void run(struct composer *composer, char c, unsigned count)
{
	const struct motion *motion = find_motion(c);
	if (motion)
		move(composer, motion, count);
	for (size_t i = 0; i < countof(commands); i++) {
		for (unsigned n = 0; commands[i].key == c && n < count && composer->vim.is_normal; n++) {
			size_t from = composer->caret;
			commands[i].run(composer);
			composer_leave_mark(composer, composer->caret > from);
		}
	}
}

static void end_pending(struct composer *composer, char operator, char c, unsigned count)
{
	const struct motion *motion = find_motion(c);
	if (operator== 'g' && c == 'g')
		composer->caret = 0;
	else if (operator!= 'g' && c == operator)
		operate_on_lines(composer, operator, count);
	else if (operator!= 'g' && motion)
		operate_to(composer, operator, motion, count);
	composer->vim.pending = 0;
}

static void on_letter(struct composer *composer, char c)
{
	struct composer_vim *vim = &composer->vim;
	if (c >= '0' && c <= '9' && (c != '0' || vim->count)) {
		vim->count = vim->count * 10 + (unsigned)(c - '0');
		vim->count = vim->count > COUNT_MAX ? COUNT_MAX : vim->count;
		return;
	}
	if (!vim->pending && strchr("cdyg", c)) {
		vim->pending = c;
		return;
	}
	unsigned count = vim->count ? vim->count : 1;
	vim->count = 0;
	vim->is_kept = false;
	if (vim->pending)
		end_pending(composer, vim->pending, c, count);
	else
		run(composer, c, count);
	settle(composer);
}

/* These work on an empty composer as in insert mode: commands, the user's shell, files, skills, the keys. */
static bool begins_text(const struct composer *composer, const struct term_key *key)
{
	return composer_is_empty(composer) && key->text.len == 1 && strchr("/!@$?", key->text.ptr[0]);
}

bool composer_vim_key(struct composer *composer, const struct term_key *key)
{
	struct composer_vim *vim = &composer->vim;
	if (!vim->is_on || key->mods)
		return false;
	composer->joins = false;
	if (key->kind == TERM_NAMED && key->name == KEY_escape && !vim->is_normal && composer->text.len) {
		vim->is_normal = true;
		composer->caret = place_left(composer);
		return true;
	}
	if (!vim->is_normal)
		return false;
	if (key->kind == TERM_NAMED && key->name == KEY_escape && (vim->pending || vim->count)) {
		vim->pending = 0;
		vim->count = 0;
		return true;
	}
	if (key->kind != TERM_CHAR)
		return false;
	if (begins_text(composer, key)) {
		vim->is_normal = false;
		return false;
	}
	if (key->text.len == 1)
		on_letter(composer, key->text.ptr[0]);
	return true;
}
