/* tui_ask.h — questions to the user, one after the other: approvals, the model's questions, the proposed plan.
 *
 * Typing ahead answers nothing: a question appears when no key was pressed for ASK_REST_MS, and takes keys ASK_READ_MS
 * after it was drawn. Owns: the questions. Loop thread only. */
#ifndef UI_TUI_ASK_H
#define UI_TUI_ASK_H

#include <stdbool.h>

#include "base/str.h"
#include "term/term_keys.h"

struct loop;
struct term_paint;
struct term_row;
struct tui_ask;

enum { ASK_REST_MS = 500, ASK_READ_MS = 200, ASK_CHOICES_MAX = 16, ASK_ESCAPED = -1 };

enum tui_ask_kind { ASK_command, ASK_patch, ASK_input, ASK_plan };

struct tui_choice {
	const char *label; /* NULL ends the list */
	char key;          /* a letter that chooses it; 0: none */
};

struct tui_ask_events {
	/* The user chose: an index, or ASK_ESCAPED. `label` is the choice's. */
	void (*on_answer)(enum tui_ask_kind kind, struct str id, int choice, struct str label, void *self);
	void (*on_change)(void *self); /* the live rows are others now */
};

struct tui_ask *tui_ask_create(struct loop *loop, const struct tui_ask_events *events, void *self);
void tui_ask_destroy(struct tui_ask *ask); /* NULL is fine */

/* Adds a question; copies everything. title: lines. The first choice is preselected. */
void tui_ask_add(struct tui_ask *ask, enum tui_ask_kind kind, struct str id, struct str title,
                 const struct tui_choice *choices);
/* Removes the questions with this id; STR_NONE: all. */
void tui_ask_remove(struct tui_ask *ask, struct str id);

bool tui_ask_is_shown(const struct tui_ask *ask);
/* To be called for each key: postpones a question that is not shown. */
void tui_ask_typed(struct tui_ask *ask);
/* A key while a question is shown; all are taken. */
void tui_ask_key(struct tui_ask *ask, const struct term_key *key);
/* Adds the rows of the question, at most `most`. */
void tui_ask_draw(struct tui_ask *ask, struct term_paint *paint, struct term_row *row, size_t columns, size_t most);

#endif
