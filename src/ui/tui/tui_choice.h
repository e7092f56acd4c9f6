/* tui_choice.h — a panel with a title and a list of which one entry is chosen: approvals, the proposed plan, models. */
#ifndef UI_TUI_CHOICE_H
#define UI_TUI_CHOICE_H

#include <stdbool.h>

#include "base/str.h"

struct event;
struct tui_panel;

enum { CHOICES_MAX = 2000, CHOICE_ESCAPED = -1 };

struct tui_choice {
	const char *label, *about; /* about: NULL or a description */
	char key;                  /* a letter that chooses it; 0: none */
};

/* An answer; borrowed during the callback. */
struct tui_chosen {
	struct str id;
	int at; /* index of the choice, or CHOICE_ESCAPED */
	struct str label;
	const struct event *about; /* the request, if there is one */
};

typedef void (*tui_chosen_fn)(const struct tui_chosen *chosen, void *self);

struct tui_choices {
	struct str title; /* lines; the first is bold */
	const struct tui_choice *items;
	size_t count;      /* at most CHOICES_MAX */
	size_t current;    /* the preselected one */
	const char *hint;  /* the last row; NULL: none */
	bool is_searched;  /* letters filter the list */
	bool has_question; /* the first line of the title only asks: an approval without room for it leaves it out */
	bool is_cut;       /* the title does not say all of an approval: on_read shows the rest */
	bool is_broken;    /* nothing can say all of it, so it can only be denied */
	/* Makes the list an approval: `n` is the answer of Esc, the last entry denies, and no other one is taken before
	 * it and the title were wholly visible. Shows them, and returns false if it cannot show them whole. NULL: no
	 * approval. */
	bool (*on_read)(struct str text, const struct event *about, void *self);
	tui_chosen_fn on_chosen;
	void *self;
};

/* id: of the request, or STR_NONE for a list that the user opened. Takes over `about`, which may be NULL. */
struct tui_panel *tui_choice_create(const struct tui_choices *what, struct str id, struct event *about);

#endif
