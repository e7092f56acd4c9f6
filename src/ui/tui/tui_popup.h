/* tui_popup.h — the list above the composer that completes a word: commands, files, skills.
 *
 * Owns: its items. */
#ifndef UI_TUI_POPUP_H
#define UI_TUI_POPUP_H

#include <stdbool.h>

#include "base/str.h"
#include "base/vec.h"
#include "ui/tui/tui_sheet.h"

enum popup_kind { POPUP_none, POPUP_command, POPUP_file, POPUP_skill };

struct popup_item {
	char *label, *about; /* about may be NULL */
};

struct tui_popup {
	enum popup_kind kind; /* POPUP_none: closed */
	size_t from;          /* offset of the word in the composer */
	bool has_letters;     /* for POPUP_file: there is something to search for */
	VEC(struct popup_item) items;
	/* private */
	size_t at, room;         /* room: items on the last screen */
	struct sheet_rest rest;  /* that the list itself has no row for */
	enum popup_kind refused; /* the user closed the list of this kind for the word at refused_from */
	size_t refused_from;
};

void tui_popup_finish(struct tui_popup *popup);

/* Opens the list for the word at `from`, and empties it. False: the user has closed it for this word. */
bool tui_popup_open(struct tui_popup *popup, enum popup_kind kind, size_t from);
/* Closes the list; nothing is refused any more. */
void tui_popup_close(struct tui_popup *popup);
/* Closes the list until another word is begun. */
void tui_popup_refuse(struct tui_popup *popup);
void tui_popup_add(struct tui_popup *popup, struct str label, struct str about);
/* Returns the chosen item; NULL: the list is closed or empty. */
const struct popup_item *tui_popup_chosen(const struct tui_popup *popup);
/* Moves the choice with the arrows, Ctrl-P, Ctrl-N, PgUp, PgDn, Home and End. False: not one of these keys. */
bool tui_popup_move(struct tui_popup *popup, const struct term_key *key);
void tui_popup_draw(struct tui_popup *popup, struct tui_sheet *sheet);

/* Returns how well typed letters match a name: 0 not, 1 in their order, 2 as its beginning. */
int tui_popup_match(struct str name, struct str typed);

#endif
