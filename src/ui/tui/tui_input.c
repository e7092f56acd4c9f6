/* Keys: of a panel, of the list above the composer, of the program, of the composer, in this order. */
#include <signal.h>
#include <strings.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"
#include "term/term_sgr.h"
#include "term/term_tty.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_git.h"
#include "ui/tui/tui_keymap.h"
#include "ui/tui/tui_pager.h"
#include "ui/tui/tui_priv.h"

/* ---- sending ---- */

static void run_shell(struct tui *tui)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PROMPT * 2);
	if (str_is_blank(composer_text(&tui->composer)))
		return;
	composer_take(&tui->composer, &text, NULL);
	struct str command = str_skip(buf_str(&text), 1);
	struct op_run_user_shell_command op = {.command = command};
	tui->is_exclusive = tui->is_exclusive || !tui->is_running;
	tui_submit(tui, OP_run_user_shell_command, &op);
	tui_history_add(tui, buf_str(&text));
}

static void send_input(struct tui *tui, bool is_queued)
{
	auto_buf struct buf text;
	struct exec_images images = {0};
	buf_init(&text, LIMIT_PROMPT * 2);
	if (tui->composer.is_shell) {
		run_shell(tui);
		return;
	}
	if (str_is_blank(composer_text(&tui->composer)) || tui_command(tui, composer_text(&tui->composer)))
		return;
	composer_take(&tui->composer, &text, &images);
	if (is_queued && tui->is_running && !tui->watched)
		tui_queue(tui, buf_str(&text), images);
	else
		tui_send(tui, buf_str(&text), images);
}

/* The newest queued message returns to the composer. */
static bool edit_queued(struct tui *tui)
{
	size_t count = tui->waiting.count;
	if (!count || !tui->waiting.items[count - 1].is_queued || !composer_is_empty(&tui->composer))
		return false;
	composer_set(&tui->composer, str_of(tui->waiting.items[count - 1].text));
	tui_remove_waiting(tui, count - 1);
	return true;
}

/* ---- the clipboard ---- */

static const struct tui_git_script clipboard_script = {
	.text = "f=$(mktemp \"${TMPDIR:-/tmp}/codex-clipboard-XXXXXX.png\") || exit 2; "
		"{ wl-paste -n -t image/png || xclip -selection clipboard -t image/png -o; } >\"$f\" 2>/dev/null && "
		"test -s \"$f\" && printf %s \"$f\" && exit 0; rm -f \"$f\"; exit 2"};

static void on_clipboard(struct str path, bool is_ok, void *self)
{
	struct tui *tui = self;
	auto_free char *file = str_dup(path);
	tui->git = NULL;
	if (is_ok && path.len)
		composer_attach(&tui->composer, file);
	else
		tui_cells_fail(tui->cells, STR("no image could be read from the clipboard (with wl-paste or xclip)"));
	tui_frame_change(tui->frame);
}

static void paste_image(struct tui *tui)
{
	tui_git_cancel(tui->git);
	tui->git = tui_git_start(tui->loop, tui->cwd, &clipboard_script, on_clipboard, tui);
}

/* ---- keys of the program ---- */

static void on_ctrl_c(struct tui *tui)
{
	if (tui_run_cancel(tui))
		return;
	if (tui_shows_running(tui))
		tui_interrupt(tui, false);
	else if (composer_is_empty(&tui->composer))
		tui_quit(tui);
	else
		tui_history_clear_draft(tui);
}

/* The keys with Ctrl that are not the editor's. True: taken. */
static bool on_ctrl(struct tui *tui, char c)
{
	switch (c) {
	case 'c':
		on_ctrl_c(tui);
		return true;
	case 'd':
		if (!composer_is_empty(&tui->composer))
			return false;
		tui_quit(tui);
		return true;
	case 'g':
		tui_editor_open(tui);
		return true;
	case 'l':
		tui_frame_clear(tui->frame);
		return true;
	case 'o':
		tui_copy(tui);
		return true;
	case 't':
		tui_transcript_open(tui, false);
		return true;
	case 'v':
		paste_image(tui);
		return true;
	default:
		return false;
	}
}

static void on_enter(struct tui *tui, const struct term_key *key)
{
	if (key->is_burst && !tui->keeps_bursts)
		composer_paste(&tui->composer, STR("\n"));
	else
		send_input(tui, false);
}

static bool on_named(struct tui *tui, const struct term_key *key)
{
	bool is_back_tab = key->name == KEY_back_tab || (key->name == KEY_tab && key->mods == TERM_SHIFT);
	if (key->name == KEY_enter && !key->mods)
		on_enter(tui, key);
	else if (is_back_tab)
		tui_set_plan_mode(tui, !tui->is_plan_mode);
	else if (key->name == KEY_tab)
		send_input(tui, true);
	else if (key->name == KEY_escape && tui_shows_running(tui))
		tui_interrupt(tui, true);
	else if (key->name == KEY_escape && tui->watched)
		tui_agents_show_main(tui);
	else if ((key->name == KEY_up && key->mods == TERM_ALT) || (key->name == KEY_left && key->mods == TERM_SHIFT))
		return edit_queued(tui);
	else
		return false;
	return true;
}

/* Left lists the subagents, with Alt it shows the previous one, and Alt-Right the next one. True: taken. */
static bool on_thread_key(struct tui *tui, const struct term_key *key)
{
	bool is_left = key->name == KEY_left, is_arrow = is_left || key->name == KEY_right;
	if (key->kind != TERM_NAMED || !is_arrow || !tui->agents.count || (key->mods && key->mods != TERM_ALT))
		return false;
	if (key->mods)
		return tui_agents_step(tui, is_left ? -1 : 1);
	if (is_left)
		on_slash_subagents(tui, STR(""));
	return is_left;
}

/* Keys that mean something else on an empty composer. True: taken. */
static bool on_empty(struct tui *tui, const struct term_key *key, bool was_armed)
{
	if (!composer_is_empty(&tui->composer) || tui->composer.is_shell)
		return false;
	if (on_thread_key(tui, key))
		return true;
	if (key->mods)
		return false;
	if (key->kind == TERM_CHAR && str_is(key->text, "?")) {
		tui_shortcuts_open(tui);
		return true;
	}
	if (key->kind != TERM_NAMED || key->name != KEY_escape || tui->is_running || tui->watched)
		return false;
	if (tui_aside_cancel(tui))
		return true;
	tui->is_armed = !was_armed;
	if (was_armed)
		tui_backtrack_open(tui);
	return true;
}

/* Keys with Alt, and function keys. True: taken. */
static bool on_other(struct tui *tui, const struct term_key *key)
{
	char alt = key->kind == TERM_CHAR && key->mods == TERM_ALT ? key->text.ptr[0] : 0;
	if (alt == ',' || alt == '.')
		tui_settings_step_effort(tui, alt == ',' ? -1 : 1);
	else if (alt == 'r')
		tui_raw_set(tui, !tui->is_raw);
	else if (key->kind == TERM_NAMED && key->name == KEY_f2)
		on_slash_warnings(tui, STR(""));
	else if (key->kind == TERM_NAMED && key->name == KEY_f3)
		tui_transcript_open(tui, true);
	else
		return false;
	return true;
}

/* ---- pastes ---- */

static bool is_image_name(const char *path)
{
	static const char *const endings[] = {".png", ".jpg", ".jpeg", ".gif", ".webp"};
	size_t len = strlen(path);
	for (size_t i = 0; i < countof(endings); i++) {
		size_t end = strlen(endings[i]);
		if (len > end && strcasecmp(path + len - end, endings[i]) == 0)
			return true;
	}
	return false;
}

/* Appends the path that a terminal pastes for a file dropped on it: in quotes, as a URL, or with escaped blanks. */
static void append_path(struct buf *out, struct str text)
{
	bool is_quoted =
		text.len > 2 && (text.ptr[0] == '\'' || text.ptr[0] == '"') && text.ptr[text.len - 1] == text.ptr[0];
	if (is_quoted) {
		buf_append(out, text.ptr + 1, text.len - 2);
	} else if (str_cut_prefix(&text, "file://")) {
		text_append_url_decoded(out, text);
	} else {
		for (size_t i = 0; i < text.len; i++) {
			i += text.ptr[i] == '\\' && i + 1 < text.len;
			buf_append_char(out, text.ptr[i]);
		}
	}
}

/* Returns the absolute path of the image that the text names, or NULL. */
static char *image_path(const struct tui *tui, struct str text)
{
	auto_buf struct buf path;
	buf_init(&path, 8192);
	text = str_trim(text);
	if (!text.len || text.len > 4096 || str_find_char(text, '\n') >= 0)
		return NULL;
	append_path(&path, text);
	if (path.over || !path.len || !is_image_name(path.data))
		return NULL;
	auto_free char *full = path_join(tui->cwd, path.data);
	return file_is_regular(full) ? steal(full) : NULL;
}

static void on_paste(struct tui *tui, struct str text)
{
	auto_free char *image = image_path(tui, text);
	if (image && !tui->composer.is_shell)
		composer_attach(&tui->composer, image);
	else
		composer_paste(&tui->composer, text);
}

/* ---- all keys ---- */

static void to_composer(struct tui *tui, const struct term_key *key)
{
	bool was_armed = tui->is_armed;
	tui->is_armed = false;
	if (tui->composer.is_searching && composer_key(&tui->composer, key))
		return;
	if (tui_complete_key(tui, key))
		return;
	if (key->kind == TERM_NAMED && key->name == KEY_escape && tui_run_cancel(tui))
		return;
	if (composer_vim_key(&tui->composer, key)) {
		tui_complete_update(tui);
		return;
	}
	if (on_empty(tui, key, was_armed) || on_other(tui, key))
		return;
	if (key->kind == TERM_PASTE)
		on_paste(tui, key->text);
	else if (key->kind == TERM_CHAR && key->mods == TERM_CTRL && on_ctrl(tui, key->text.ptr[0]))
		return;
	else if (key->kind == TERM_CHAR || !on_named(tui, key))
		composer_key(&tui->composer, key);
	tui_complete_update(tui);
}

/* Returns where the key counts, for the user's map of keys; 0: it is text, or a key of the list above the composer. */
static unsigned contexts_of(const struct tui *tui, const struct term_key *key)
{
	bool is_letter = key->kind == TERM_CHAR && !key->mods;
	if (tui->pager)
		return tui_pager_is_asking(tui->pager) ? 0 : KEYMAP_PAGER;
	if (tui->picker)
		return is_letter ? 0 : KEYMAP_LIST;
	if (tui_ask_is_shown(tui->ask)) {
		enum tui_letters letters = tui_ask_letters(tui->ask);
		return letters == LETTERS_approval            ? KEYMAP_LIST | KEYMAP_APPROVAL
		       : is_letter && letters == LETTERS_text ? 0
		                                              : KEYMAP_LIST;
	}
	if (is_letter ? !composer_is_empty(&tui->composer) : tui->popup.kind != POPUP_none && !key->mods)
		return 0;
	return KEYMAP_GLOBAL | KEYMAP_CHAT | KEYMAP_COMPOSER | KEYMAP_EDITOR;
}

static void on_preload(void *self)
{
	struct tui *tui = self;
	if (tui->codex)
		codex_expect_request(tui->codex);
}

void tui_keys_init(struct tui *tui)
{
	loop_deferred_init(&tui->preload, tui->loop, on_preload, tui);
}

/* The user is going to send something: a terminal that only shows a session needs no libraries of the network. They are
 * loaded after the frame that has been deferred, so that the first key has its echo at once. */
static void preload(struct tui *tui)
{
	if (!tui->is_preloaded && tui->is_configured && tui->codex)
		loop_defer(&tui->preload);
	tui->is_preloaded |= tui->is_configured;
}

void tui_on_key(const struct term_key *typed, void *self)
{
	struct tui *tui = self;
	struct term_key bound = *typed, *key = &bound;
	if (key->kind == TERM_FOCUSED || key->kind == TERM_BLURRED) {
		tui->is_blurred = key->kind == TERM_BLURRED;
		if (!tui->is_blurred) {
			tui_status_look(tui);
			tui_title_update(tui);
		}
		tui_frame_change(tui->frame);
		return;
	}
	if (key->kind == TERM_LIGHT || key->kind == TERM_DARK) {
		tui->is_light = key->kind == TERM_LIGHT;
		term_sgr_set_ground(tui->is_light);
		tui_theme_apply(tui);
		return;
	}
	tui_frame_echo(tui->frame);
	preload(tui);
	if (!tui_keymap_apply(&tui->keymap, contexts_of(tui, key), key))
		return;
	if (key->kind == TERM_CHAR && key->mods == TERM_CTRL && key->text.ptr[0] == 'z') {
		tui_frame_leave(tui->frame);
		term_tty_suspend(tui->tty);
		return;
	}
	if (tui_text_key(tui, key) || tui_pick_key(tui, key)) {
		tui_ask_typed(tui->ask);
		return;
	}
	if (tui_ask_is_shown(tui->ask)) {
		tui_ask_key(tui->ask, key);
		if (tui->sends_draft)
			send_input(tui, false);
		tui->sends_draft = false;
		return;
	}
	tui_ask_typed(tui->ask);
	to_composer(tui, key);
}
