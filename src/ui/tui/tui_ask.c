/* The state of a question is small on purpose: one list with one choice. The rest timer decides when it appears, and
 * the time of its first frame when keys count. */
#include "ui/tui/tui_ask.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "term/term_paint.h"
#include "term/term_row.h"
#include "term/term_width.h"

struct question {
	enum tui_ask_kind kind;
	char *id, *title;
	struct tui_choice choices[ASK_CHOICES_MAX]; /* owned labels */
	int count;
};

struct tui_ask {
	VEC(struct question) questions; /* the first is the current one */
	struct loop_timer *rest;
	struct tui_ask_events events;
	void *self;
	int chosen;
	uint64_t key_ms, drawn_ms; /* the last key, the first frame; 0: not drawn yet */
	bool is_shown;
};

static void on_rest(void *self)
{
	struct tui_ask *ask = self;
	ask->is_shown = ask->questions.count > 0;
	ask->drawn_ms = 0;
	ask->events.on_change(ask->self);
}

struct tui_ask *tui_ask_create(struct loop *loop, const struct tui_ask_events *events, void *self)
{
	struct tui_ask *ask = xnew(struct tui_ask);
	ask->rest = loop_timer_create(loop, on_rest, ask);
	ask->events = *events;
	ask->self = self;
	return ask;
}

static void question_finish(struct question *question)
{
	for (int i = 0; i < question->count; i++)
		free((char *)question->choices[i].label);
	free(question->id);
	free(question->title);
}

void tui_ask_destroy(struct tui_ask *ask)
{
	if (!ask)
		return;
	vec_for_each(question, &ask->questions)
		question_finish(question);
	vec_finish(&ask->questions);
	loop_timer_destroy(ask->rest);
	free(ask);
}

/* Waits until the user has stopped typing before the next question is shown. */
static void show_next(struct tui_ask *ask)
{
	uint64_t since = clock_now_ms() - ask->key_ms;
	ask->is_shown = false;
	ask->chosen = 0;
	loop_timer_stop(ask->rest);
	if (ask->questions.count)
		loop_timer_start(ask->rest, ask->key_ms && since < ASK_REST_MS ? ASK_REST_MS - since : 0);
	ask->events.on_change(ask->self);
}

void tui_ask_add(struct tui_ask *ask, enum tui_ask_kind kind, struct str id, struct str title,
                 const struct tui_choice *choices)
{
	struct question question = {.kind = kind, .id = str_dup(id), .title = str_dup(title)};
	for (; choices->label && question.count < ASK_CHOICES_MAX; choices++)
		question.choices[question.count++] = (struct tui_choice){xstrdup(choices->label), choices->key};
	vec_push(&ask->questions, question);
	if (ask->questions.count == 1)
		show_next(ask);
}

static void remove_at(struct tui_ask *ask, size_t at)
{
	question_finish(&ask->questions.items[at]);
	ask->questions.count--;
	memmove(&ask->questions.items[at], &ask->questions.items[at + 1],
	        (ask->questions.count - at) * sizeof(struct question));
}

void tui_ask_remove(struct tui_ask *ask, struct str id)
{
	for (size_t i = ask->questions.count; i-- > 0;) {
		if (id.ptr && !str_is(id, ask->questions.items[i].id))
			continue;
		remove_at(ask, i);
		if (i == 0)
			show_next(ask);
	}
}

bool tui_ask_is_shown(const struct tui_ask *ask)
{
	return ask->is_shown;
}

void tui_ask_typed(struct tui_ask *ask)
{
	ask->key_ms = clock_now_ms();
	if (loop_timer_is_active(ask->rest))
		loop_timer_start(ask->rest, ASK_REST_MS);
}

/* The question is removed before the answer is reported, which may add another. */
static void answer(struct tui_ask *ask, int choice)
{
	struct question question = ask->questions.items[0];
	ask->questions.count--;
	memmove(ask->questions.items, ask->questions.items + 1, ask->questions.count * sizeof(question));
	ask->key_ms = 0; /* this key was an answer, not text */
	show_next(ask);
	ask->events.on_answer(question.kind, str_of(question.id), choice,
	                      choice >= 0 ? str_of(question.choices[choice].label) : STR_NONE, ask->self);
	question_finish(&question);
}

static int choice_of(const struct question *question, const struct term_key *key)
{
	char c = key->kind == TERM_CHAR && !key->mods && key->text.len == 1 ? key->text.ptr[0] : 0;
	if (c >= '1' && c < '1' + question->count)
		return c - '1';
	for (int i = 0; c && i < question->count; i++) {
		if (question->choices[i].key == c)
			return i;
	}
	return ASK_ESCAPED;
}

static void move(struct tui_ask *ask, int by)
{
	int count = ask->questions.items[0].count;
	ask->chosen = (ask->chosen + by + count) % count;
	ask->events.on_change(ask->self);
}

void tui_ask_key(struct tui_ask *ask, const struct term_key *key)
{
	bool is_interrupt = key->kind == TERM_CHAR && key->mods == TERM_CTRL && key->text.ptr[0] == 'c';
	if (!ask->drawn_ms || clock_now_ms() - ask->drawn_ms < ASK_READ_MS)
		return;
	int choice = choice_of(&ask->questions.items[0], key);
	if (choice >= 0)
		answer(ask, choice);
	else if (is_interrupt || (key->kind == TERM_NAMED && key->name == KEY_escape) ||
	         (key->kind == TERM_CHAR && !key->mods && str_is(key->text, "n")))
		answer(ask, ASK_ESCAPED);
	else if (key->kind == TERM_NAMED && key->name == KEY_enter)
		answer(ask, ask->chosen);
	else if (key->kind == TERM_NAMED && (key->name == KEY_up || key->name == KEY_down))
		move(ask, key->name == KEY_up ? -1 : 1);
}

/* ---- rows ---- */

static size_t count_rows(struct str text, size_t columns)
{
	struct str line, row;
	size_t count = 0;
	while (str_next_line(&text, &line)) {
		count += !line.len;
		while (term_wrap_next(&line, columns, &row))
			count++;
	}
	return count;
}

/* Draws the title; one that is too long loses rows in its middle, which a row says. */
static void draw_title(const struct question *question, struct term_paint *paint, struct term_row *row, size_t columns,
                       size_t most)
{
	struct str text = str_of(question->title), line, part;
	size_t total = count_rows(text, columns), at = 0;
	while (str_next_line(&text, &line)) {
		bool is_empty = !line.len;
		while (is_empty || term_wrap_next(&line, columns, &part)) {
			bool is_hidden = total > most && at >= most / 2 && at < total - (most - most / 2 - 1);
			term_row_clear(row);
			if (is_hidden && at == most / 2)
				term_row_add_c(row, TERM_yellow, "… (rows are hidden: make the window larger)");
			else
				term_row_add(row, at == 0 ? TERM_bold : TERM_plain, is_empty ? STR("") : part);
			if (!is_hidden || at == most / 2)
				term_paint_live(paint, row);
			at++;
			is_empty = false;
			if (!line.len)
				break;
		}
	}
}

void tui_ask_draw(struct tui_ask *ask, struct term_paint *paint, struct term_row *row, size_t columns, size_t most)
{
	const struct question *question = &ask->questions.items[0];
	size_t list = (size_t)question->count;
	draw_title(question, paint, row, columns, most > list + 2 ? most - list : 2);
	for (int i = 0; i < question->count; i++) {
		char number[16];
		snprintf(number, sizeof(number), "%s %d. ", i == ask->chosen ? "›" : " ", i + 1);
		term_row_clear(row);
		term_row_add_c(row, i == ask->chosen ? TERM_cyan : TERM_plain, number);
		term_row_add_c(row, i == ask->chosen ? TERM_cyan : TERM_plain, question->choices[i].label);
		size_t at = term_paint_live(paint, row);
		if (i == ask->chosen)
			term_paint_caret(paint, at, 0);
	}
	ask->drawn_ms = ask->drawn_ms ? ask->drawn_ms : clock_now_ms();
}
