/* The word at the caret decides which list is open: a command at the start, @file, $skill. */
#include "base/limits.h"
#include "base/mem.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_popup.h"
#include "ui/tui/tui_priv.h"
#include "workspace/file_finder.h"

/* ---- the lists ---- */

static void fill_commands(struct tui *tui, struct str typed)
{
	const char *name, *about;
	if (tui_command_absence(typed)) /* Enter must say so, not run another one that resembles it */
		return;
	for (int match = 2; match > 0; match--) {
		for (size_t i = 0; tui_command_at(i, &name, &about); i++) {
			if (!about || tui_popup_match(str_of(name), typed) != match)
				continue;
			auto_free char *label = xasprintf("/%s", name);
			tui_popup_add(&tui->popup, str_of(label), str_of(about));
		}
	}
}

static void fill_skills(struct tui *tui, struct str typed)
{
	for (int match = 2; match > 0; match--) {
		vec_for_each(skill, &tui->skills) {
			if (!skill->is_enabled || tui_popup_match(str_of(skill->name), typed) != match)
				continue;
			auto_free char *label = xasprintf("$%s", skill->name);
			tui_popup_add(&tui->popup, str_of(label), str_of(skill->about));
		}
	}
}

static void on_files(bool is_complete, void *self)
{
	struct tui *tui = self;
	const struct file_search_result *results;
	size_t count;
	(void)is_complete;
	if (tui->popup.kind != POPUP_file)
		return;
	tui_popup_open(&tui->popup, POPUP_file, tui->popup.from);
	file_query_results(tui->files, &results, &count);
	for (size_t i = 0; i < count; i++)
		tui_popup_add(&tui->popup, results[i].path, results[i].is_folder ? STR("folder") : STR_NONE);
	tui_frame_change(tui->frame);
}

static void drop_files(struct tui *tui)
{
	file_query_destroy(steal(tui->files));
}

/* ---- opening ---- */

static bool is_command_word(const struct tui *tui, struct str word, size_t from)
{
	return from == 0 && !tui->composer.is_shell && word.len && word.ptr[0] == '/' &&
	       str_find_char(str_skip(word, 1), '/') < 0;
}

static void open_files(struct tui *tui, struct str letters, size_t from)
{
	bool was_open = tui->popup.kind == POPUP_file;
	if (!was_open && !tui_popup_open(&tui->popup, POPUP_file, from))
		return;
	tui->popup.from = from;
	tui->popup.has_letters = letters.len > 0;
	if (!tui->finder)
		tui->finder = file_finder_create(tui->loop);
	struct file_search_root root = {STR(""), tui->cwd};
	if (!tui->files)
		tui->files = file_query_create(tui->finder, &root, 1, on_files, tui);
	if (letters.len)
		file_query_ask(tui->files, letters);
	else
		tui_popup_open(&tui->popup, POPUP_file, from);
}

void tui_complete_update(struct tui *tui)
{
	size_t from;
	struct str word = composer_word(&tui->composer, &from);
	if (is_command_word(tui, word, from)) {
		if (tui_popup_open(&tui->popup, POPUP_command, from))
			fill_commands(tui, str_skip(word, 1));
	} else if (word.len && word.ptr[0] == '@') {
		open_files(tui, str_skip(word, 1), from);
	} else if (word.len && word.ptr[0] == '$' && !tui->composer.is_shell) {
		if (tui_popup_open(&tui->popup, POPUP_skill, from))
			fill_skills(tui, str_skip(word, 1));
	} else {
		tui_popup_close(&tui->popup);
	}
	if (tui->popup.kind != POPUP_file && tui->files)
		drop_files(tui);
}

/* ---- keys ---- */

/* A path with blanks is quoted, so that it stays one word for the model. */
static void append_path(struct buf *out, const char *path)
{
	bool has_blank = strpbrk(path, " \t") != NULL;
	buf_printf(out, has_blank ? "\"%s\" " : "%s ", path);
}

static void complete(struct tui *tui)
{
	const struct popup_item *item = tui_popup_chosen(&tui->popup);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	if (tui->popup.kind == POPUP_file)
		append_path(&text, item->label);
	else
		buf_printf(&text, "%s ", item->label);
	composer_complete(&tui->composer, tui->popup.from, buf_str(&text));
	tui_popup_close(&tui->popup);
}

/* Enter runs a command; in the other lists it inserts the choice. */
static bool take(struct tui *tui)
{
	bool is_command = tui->popup.kind == POPUP_command;
	complete(tui);
	if (is_command)
		composer_set(&tui->composer, str_trim_end(composer_text(&tui->composer)));
	return !is_command;
}

bool tui_complete_key(struct tui *tui, const struct term_key *key)
{
	bool is_ctrl_c = key->kind == TERM_CHAR && key->mods == TERM_CTRL && key->text.ptr[0] == 'c';
	bool is_escape = key->kind == TERM_NAMED && key->name == KEY_escape;
	bool is_visible = tui->popup.kind == POPUP_file || tui_popup_chosen(&tui->popup);
	if (tui->popup.kind == POPUP_none || !is_visible)
		return false;
	if (is_escape || is_ctrl_c) {
		tui_popup_refuse(&tui->popup);
		return is_escape || tui_shows_running(tui); /* else Ctrl-C means the draft, too */
	}
	if (tui_popup_move(&tui->popup, key))
		return true;
	if (!tui_popup_chosen(&tui->popup) || key->kind != TERM_NAMED || key->mods)
		return false;
	if (key->name == KEY_tab)
		complete(tui);
	else if (key->name == KEY_enter && !key->is_burst)
		return take(tui);
	else
		return false;
	return true;
}

void tui_complete_finish(struct tui *tui)
{
	drop_files(tui);
	file_finder_destroy(steal(tui->finder));
	tui_popup_finish(&tui->popup);
	tui_set_skills(tui, NULL);
	vec_finish(&tui->skills);
}
