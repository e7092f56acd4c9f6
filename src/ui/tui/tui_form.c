/* One page is shown at a time. Its keys go to the list of options or to the text, whichever has the focus. */
#include "ui/tui/tui_form.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/message/message.h"
#include "term/term_paint.h"
#include "term/term_width.h"
#include "ui/tui/tui_sheet.h"

enum { NOTES_ROWS = 5, LABEL_COLUMNS_MAX = 40, HINT_MAX = 200 };

static struct tui_form *of(struct tui_panel *panel)
{
	return (struct tui_form *)panel;
}

static struct form_page *current(const struct tui_form *form)
{
	return form->pages.items[form->at];
}

/* ---- life ---- */

static void page_destroy(struct form_page *page)
{
	vec_for_each(option, &page->options) {
		free(option->label);
		free(option->about);
	}
	vec_finish(&page->options);
	composer_finish(&page->notes);
	free(page->heading);
	free(page->text);
	free(page);
}

static void destroy(struct tui_panel *panel)
{
	struct tui_form *form = of(panel);
	vec_for_each(page, &form->pages)
		page_destroy(*page);
	vec_finish(&form->pages);
	event_destroy(form->about);
	free(form->asker);
	if (form->arena)
		arena_finish(form->arena);
	free(form->arena);
	free(form);
}

static void report(struct tui_panel *panel)
{
	of(panel)->use->on_done(of(panel), of(panel)->end, of(panel)->self);
}

struct form_page *tui_form_add(struct tui_form *form, enum form_kind kind, struct str heading, struct str text)
{
	if (form->pages.count == FORM_PAGES_MAX)
		return NULL;
	struct form_page *page = xnew(struct form_page);
	page->kind = kind;
	page->heading = str_dup(heading);
	page->text = str_dup(text);
	composer_init(&page->notes);
	vec_push(&form->pages, page);
	form->in_notes = form->pages.items[0]->kind == FORM_text;
	return page;
}

void form_page_option(struct form_page *page, struct str label, struct str about)
{
	if (page->options.count < FORM_OPTIONS_MAX)
		vec_push(&page->options, (struct form_option){.label = str_dup(label), .about = str_dup(about)});
}

/* ---- pages ---- */

static size_t unanswered(const struct tui_form *form)
{
	size_t count = 0;
	vec_for_each(page, &form->pages)
		count += !(*page)->is_answered;
	return count;
}

static void go_to_page(struct tui_form *form, size_t at)
{
	form->at = at % form->pages.count;
	form->in_notes = current(form)->kind == FORM_text;
	form->problem = NULL;
}

static const char *mark_of(const struct form_page *page, const struct form_option *option)
{
	return page->kind != FORM_many ? NULL : option->is_on ? "[x] " : "[ ] ";
}

/* True if the text and what the answer chooses from it were visible: of several options all. */
static bool was_seen(const struct tui_form *form)
{
	const struct form_page *page = current(form);
	bool is_seen = page->is_visible;
	for (size_t i = 0; i < page->options.count; i++) {
		if (page->kind == FORM_many || i == page->at)
			is_seen &= page->options.items[i].is_visible;
	}
	return is_seen || page->is_read || !form->use->on_read;
}

/* Shows the whole page. */
static bool read_page(struct tui_form *form)
{
	struct form_page *page = current(form);
	auto_buf struct buf text;
	buf_init(&text, 2 * LIMIT_LINE);
	buf_printf(&text, "%s\n%s\n\n", page->heading, page->text);
	for (size_t i = 0; i < page->options.count; i++) {
		const struct form_option *option = &page->options.items[i];
		const char *mark = mark_of(page, option);
		buf_printf(&text, "%zu. %s%s\n   %s\n", i + 1, mark ? mark : "", option->label, option->about);
	}
	if (page->has_preset)
		buf_append_str(&text, composer_text(&page->notes));
	page->is_read = form->use->on_read(buf_str(&text), form->about, form->self) && !text.over && !page->is_broken;
	return false;
}

/* Goes to the next page without an answer. True: all have one. */
static bool answer_page(struct tui_form *form)
{
	struct form_page *page = current(form);
	if (!was_seen(form))
		return read_page(form);
	form->problem = form->use->check ? form->use->check(page) : NULL;
	if (form->problem)
		return false;
	page->is_answered = true;
	for (size_t i = 1; i < form->pages.count; i++) {
		size_t at = (form->at + i) % form->pages.count;
		if (form->pages.items[at]->is_answered)
			continue;
		go_to_page(form, at);
		return false;
	}
	form->end = FORM_sent;
	return true;
}

/* ---- keys ---- */

static bool end(struct tui_form *form, enum form_end how)
{
	form->end = how;
	return true;
}

static void toggle(struct form_page *page)
{
	if (page->kind == FORM_many && page->at < page->options.count)
		page->options.items[page->at].is_on = !page->options.items[page->at].is_on;
}

static bool list_char(struct tui_form *form, const struct term_key *key)
{
	struct form_page *page = current(form);
	char c = key->text.ptr[0];
	if (!key->mods && c == ' ')
		toggle(page);
	if (key->mods || key->is_crowded || c < '1' || c > '9' || (size_t)(c - '1') >= page->options.count)
		return false;
	page->at = (size_t)(c - '1');
	toggle(page);
	return page->kind == FORM_one && answer_page(form);
}

static bool list_key(struct tui_form *form, const struct term_key *key)
{
	struct form_page *page = current(form);
	if (sheet_move(&page->at, page->options.count, page->shown, key))
		return false;
	if (key->kind == TERM_CHAR)
		return list_char(form, key);
	if (key->kind != TERM_NAMED)
		return false;
	if (key->name == KEY_left)
		go_to_page(form, form->at + form->pages.count - 1);
	else if (key->name == KEY_right)
		go_to_page(form, form->at + 1);
	else if (key->name == KEY_tab)
		form->in_notes = page->has_notes;
	return false;
}

static void notes_key(struct tui_form *form, const struct term_key *key)
{
	struct form_page *page = current(form);
	bool leaves = key->kind == TERM_NAMED && (key->name == KEY_tab || key->name == KEY_escape);
	if (leaves)
		form->in_notes = page->kind == FORM_text;
	else if (key->kind == TERM_PASTE)
		composer_paste(&page->notes, key->text);
	else if (key->kind == TERM_NAMED && key->name == KEY_enter && key->is_burst)
		composer_paste(&page->notes, STR("\n"));
	else
		composer_key(&page->notes, key);
}

static bool on_key(struct tui_panel *panel, const struct term_key *key)
{
	struct tui_form *form = of(panel);
	bool is_ctrl = key->kind == TERM_CHAR && key->mods == TERM_CTRL, is_named = key->kind == TERM_NAMED;
	bool is_list = !form->in_notes || current(form)->kind == FORM_text;
	if (is_ctrl && key->text.ptr[0] == 'c')
		return end(form, FORM_escaped);
	if (is_ctrl && key->text.ptr[0] == 'a' && form->use->on_read && (!form->in_notes || !was_seen(form)))
		return read_page(form);
	if (is_ctrl && key->text.ptr[0] == 'd' && form->use->can_decline)
		return end(form, FORM_declined);
	if (is_named && key->name == KEY_escape && is_list)
		return end(form, FORM_escaped);
	bool is_pasted = form->in_notes ? key->is_burst : key->is_crowded;
	if (is_named && key->name == KEY_enter && !key->mods && !is_pasted)
		return answer_page(form);
	if (!form->in_notes)
		return list_key(form, key);
	if (is_named && (key->name == KEY_page_up || key->name == KEY_page_down))
		go_to_page(form, form->at + (key->name == KEY_page_down ? 1 : form->pages.count - 1));
	else
		notes_key(form, key);
	return false;
}

/* ---- rows ---- */

/* Draws the text and the options, and notes which of them are visible. Returns how many options are not. */
static struct sheet_rest draw_question(const struct tui_form *form, struct tui_sheet *sheet)
{
	struct form_page *page = current(form);
	struct sheet_item items[FORM_OPTIONS_MAX];
	struct sheet_question question = {
		.text = str_of(page->text), .items = items, .count = page->options.count, .at = page->at};
	for (size_t i = 0; i < question.count; i++) {
		const struct form_option *option = &page->options.items[i];
		size_t width = 4 + term_width(str_of(option->label));
		bool is_wider = width > question.label_columns && width <= LABEL_COLUMNS_MAX;
		question.label_columns = is_wider ? width : question.label_columns;
		items[i] = (struct sheet_item){.label = option->label,
		                               .about = option->about,
		                               .number = (int)i + 1,
		                               .is_chosen = i == page->at,
		                               .is_wrapped = true,
		                               .mark = mark_of(page, option)};
	}
	page->is_visible = sheet_question(sheet, &question) && !page->is_broken;
	for (size_t i = 0; i < question.count; i++)
		page->options.items[i].is_visible = items[i].is_visible;
	page->shown = question.count - question.rest.above - question.rest.below;
	return question.rest;
}

/* The first row says how many options have no room below. */
static void draw_heading(const struct tui_form *form, struct tui_sheet *sheet, size_t below)
{
	const struct form_page *page = current(form);
	struct tui_sheet counter = {NULL, sheet->row, sheet->columns, sheet->most - below - 1};
	auto_free char *heading =
		xasprintf("%s%s%s %zu/%zu (%zu unanswered)%s%.40s", form->asker ? form->asker : "",
	                  form->asker ? " asks: " : "", form->use->noun, form->at + 1, form->pages.count,
	                  unanswered(form), *page->heading ? " · " : "", page->heading);
	struct sheet_rest rest = draw_question(form, &counter);
	term_row_clear(sheet->row);
	sheet_add_title(sheet->row, TERM_dim, str_of(heading), rest);
	sheet_put(sheet);
}

/* One row with a mark for each character, for an answer that is secret. */
static void draw_secret(struct form_page *page, struct tui_sheet *sheet)
{
	auto_buf struct buf marks;
	buf_init(&marks, 4 * KIB);
	buf_append_c(&marks, "› ");
	for (size_t i = text_char_count(composer_text(&page->notes)); i > 0 && !marks.over; i--)
		buf_append_c(&marks, "•");
	sheet_line(sheet, TERM_plain, buf_str(&marks).ptr);
}

static void draw_notes(struct tui_form *form, struct tui_sheet *sheet)
{
	struct form_page *page = current(form);
	size_t rows = sheet->most < NOTES_ROWS ? sheet->most : NOTES_ROWS;
	size_t room = sheet->columns > 2 ? sheet->columns - 2 : 1;
	if (page->has_preset)
		page->is_visible &= rows && sheet_rows(composer_text(&page->notes), room) <= 1;
	if (!rows || (!form->in_notes && composer_is_empty(&page->notes)))
		return;
	if (page->is_secret) {
		draw_secret(page, sheet);
	} else if (form->in_notes) {
		sheet->most -= composer_draw(&page->notes, sheet->paint, sheet->row, sheet->columns, rows);
	} else {
		struct str text = composer_text(&page->notes), line = STR("");
		auto_buf struct buf note;
		str_next_line(&text, &line);
		buf_init(&note, LIMIT_LINE);
		buf_printf(&note, "  note: %.*s", STR_ARG(line));
		sheet_line(sheet, TERM_dim, buf_str(&note).ptr);
	}
}

static void write_hint(const struct tui_form *form, char hint[HINT_MAX])
{
	const struct form_page *page = current(form);
	bool is_last = unanswered(form) - !page->is_answered == 0;
	if (!form->use->noun) {
		snprintf(hint, HINT_MAX, "  %s", form->use->escapes);
		return;
	}
	snprintf(hint, HINT_MAX, "  %s%s%s%s%s",
	         is_last && form->pages.count > 1 ? "enter to submit all" : "enter to submit answer",
	         page->kind == FORM_many ? " · space to select"
	         : page->has_notes       ? " · tab to add notes"
	                                 : "",
	         form->pages.count > 1 ? " · ←/→ questions" : "", form->use->can_decline ? " · ctrl-d to decline" : "",
	         form->use->escapes);
}

static void draw(struct tui_panel *panel, struct tui_sheet *sheet)
{
	struct tui_form *form = of(panel);
	char hint[HINT_MAX];
	write_hint(form, hint);
	size_t below = form->in_notes + (form->problem ? 1 : 0), rows = sheet_hint_rows(sheet, hint);
	size_t head = form->use->noun ? 1 : 0;
	below += below + rows <= (sheet->most - head) / 2 ? rows : 0;
	below = below + head < sheet->most ? below : 0;
	if (head)
		draw_heading(form, sheet, below);
	sheet->most -= below;
	draw_question(form, sheet);
	sheet->most += below;
	draw_notes(form, sheet);
	if (form->problem)
		sheet_line(sheet, TERM_red, form->problem);
	sheet_hint(sheet, hint);
}

static const struct tui_panel_class class = {.draw = draw, .key = on_key, .report = report, .destroy = destroy};

struct tui_form *tui_form_create(const struct form_use *use, struct str id, struct event *about, struct arena *arena,
                                 void *self)
{
	struct tui_form *form = xnew(struct tui_form);
	form->panel = (struct tui_panel){
		.class = &class, .id = str_dup(id), .task = about ? str_dup(about->id) : NULL, .is_request = true};
	form->use = use;
	form->about = about;
	form->arena = arena;
	form->self = self;
	return form;
}
