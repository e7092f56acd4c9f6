/* tui_ask.h — panels in the composer's place, one after the other: requests of the engine and lists that the user
 * opened.
 *
 * Typing ahead answers nothing: a request appears when no key was pressed for ASK_REST_MS, and takes keys ASK_READ_MS
 * after it was drawn. A list that the user opened appears at once. Owns: the panels. Loop thread only. */
#ifndef UI_TUI_ASK_H
#define UI_TUI_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "term/term_keys.h"

struct attach_answered;
struct loop;
struct tui_ask;
struct tui_panel;
struct tui_sheet;

enum { ASK_REST_MS = 500, ASK_READ_MS = 200 };

struct tui_panel_class {
	void (*draw)(struct tui_panel *panel, struct tui_sheet *sheet);
	/* Handles a key. True: the user has answered. */
	bool (*key)(struct tui_panel *panel, const struct term_key *key);
	/* Reports the answer. The panel is in no queue any more, so other panels may be added. */
	void (*report)(struct tui_panel *panel);
	void (*destroy)(struct tui_panel *panel);
};

/* The meaning of letters for a panel. */
enum tui_letters { LETTERS_text, LETTERS_list, LETTERS_approval };

/* The first member of each kind of panel. */
struct tui_panel {
	const struct tui_panel_class *class;
	char *id, *task; /* of the request; task: its Task, or NULL; owned by the queue once added */
	uint64_t seq;    /* its number in the session; 0: none */
	bool is_request; /* of the engine, so that typing ahead must not answer it */
	bool is_late;    /* of the user, but it opens by itself: the same holds */
	enum tui_letters letters;
};

/* on_change: the live rows are others now. */
struct tui_ask *tui_ask_create(struct loop *loop, void (*on_change)(void *self), void *self);
void tui_ask_destroy(struct tui_ask *ask); /* NULL is fine */

/* Adds a panel and takes it over. A list of the user comes before requests that are not shown yet. */
void tui_ask_add(struct tui_ask *ask, struct tui_panel *panel);
/* Sets the number of the requests that are added next; 0: none. */
void tui_ask_number(struct tui_ask *ask, uint64_t seq);
/* Returns the number of the request whose answer is being reported; 0: none. */
uint64_t tui_ask_answers(const struct tui_ask *ask);
/* Removes, without an answer, the request with this number; if that is unknown (0), those with this id and Task, of
 * which the Task may be unknown (STR_NONE), too. */
void tui_ask_withdraw(struct tui_ask *ask, const struct attach_answered *request);
/* Removes the requests of this turn and those without a Task; STR_NONE: all. Those of other threads stay. */
void tui_ask_end_turn(struct tui_ask *ask, struct str turn);

bool tui_ask_is_shown(const struct tui_ask *ask);
enum tui_letters tui_ask_letters(const struct tui_ask *ask);
/* True if a request of the engine waits, shown or not. */
bool tui_ask_has_request(const struct tui_ask *ask);
/* True if a request waits for the approval of this call of this Task, shown or not. */
bool tui_ask_has_approval(const struct tui_ask *ask, struct str call_id, struct str task);
/* To be called for each key: postpones a request that is not shown. */
void tui_ask_typed(struct tui_ask *ask);
/* A key while a panel is shown; all are taken. */
void tui_ask_key(struct tui_ask *ask, const struct term_key *key);
void tui_ask_draw(struct tui_ask *ask, struct tui_sheet *sheet);

#endif
