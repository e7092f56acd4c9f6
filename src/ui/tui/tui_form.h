/* tui_form.h — a panel of pages that the user answers one by one: the model's questions, the form of an MCP server.
 *
 * Owns: its pages. The user of this module adds the pages, and reads the answers in on_done. */
#ifndef UI_TUI_FORM_H
#define UI_TUI_FORM_H

#include <stdbool.h>

#include "base/vec.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_composer.h"

struct arena;
struct event;
struct json;
struct tui_form;

enum { FORM_PAGES_MAX = 64, FORM_OPTIONS_MAX = 200 };

enum form_kind { FORM_text, FORM_one, FORM_many };
enum form_end { FORM_sent, FORM_declined, FORM_escaped };

struct form_option {
	char *label, *about; /* owned */
	bool is_on;          /* chosen on a page of FORM_many */
	bool is_visible;     /* wholly */
};

struct form_page {
	char *heading, *text; /* owned */
	enum form_kind kind;
	bool has_notes; /* FORM_one: Tab opens a text besides the options */
	bool is_secret; /* the text is not shown */
	bool is_required;
	bool is_answered;
	bool has_preset; /* `notes` has a text that the user did not write */
	bool is_visible; /* the text and the preset, wholly */
	bool is_read;    /* all was shown */
	bool is_broken;  /* a part of the text is missing, so the page cannot be answered */
	VEC(struct form_option) options;
	size_t at, shown; /* the option chosen; how many are in view */
	struct composer notes;
	const struct json *about; /* for on_check; borrowed */
};

struct form_use {
	const char *noun; /* "Question", for the first row; NULL: a field that the user opened, which has no such row */
	const char *escapes; /* the effect of Esc, for the hint; of a field: the whole hint */
	bool can_decline;    /* Ctrl-D declines */
	/* Shows a page that was not wholly visible when the user answered it, which answers nothing. False: it cannot
	 * be shown whole. NULL: a page is answered in any case. */
	bool (*on_read)(struct str text, const struct event *about, void *self);
	/* Returns the reason why a page cannot be left, static, or NULL. May be NULL. */
	const char *(*check)(const struct form_page *page);
	void (*on_done)(struct tui_form *form, enum form_end end, void *self);
};

struct tui_form {
	struct tui_panel panel; /* first */
	const struct form_use *use;
	VEC(struct form_page *) pages;
	struct event *about; /* the request */
	char *asker;         /* the subagent that asks, or NULL; set by the owner */
	/* private */
	struct arena *arena;
	size_t at;
	bool in_notes;
	const char *problem;
	enum form_end end;
	void *self;
};

/* Takes over `about`, and the arena of values that the pages borrow, which may be NULL. */
struct tui_form *tui_form_create(const struct form_use *use, struct str id, struct event *about, struct arena *arena,
                                 void *self);
/* Adds a page; heading and text are copied. NULL: there are FORM_PAGES_MAX. */
struct form_page *tui_form_add(struct tui_form *form, enum form_kind kind, struct str heading, struct str text);
void form_page_option(struct form_page *page, struct str label, struct str about);

#endif
