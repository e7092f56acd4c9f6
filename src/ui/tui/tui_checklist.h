/* tui_checklist.h — a panel of items that are on or off, and that may have an order: features, items of the footer.
 *
 * Texts are constant. */
#ifndef UI_TUI_CHECKLIST_H
#define UI_TUI_CHECKLIST_H

#include <stdbool.h>
#include <stddef.h>

struct tui_ask;
struct tui_checklist;

enum { CHECKS_MAX = 32 };

struct tui_check {
	const char *label, *about; /* about: NULL or a description */
	bool is_on;
};

struct tui_checklist {
	const char *title, *hint;
	struct tui_check items[CHECKS_MAX];
	size_t count;
	bool is_ordered; /* Left and Right move an item */
	/* The user has saved the list, which is borrowed. */
	void (*on_saved)(const struct tui_checklist *list, void *self);
	const char *key; /* of the owner */
	void *self;
};

/* Copies the list. */
void tui_checklist_open(struct tui_ask *ask, const struct tui_checklist *list);

#endif
