/* tui_pager.h — a long text on the alternate screen: the transcript, for example.
 *
 * Owns: its rows, at most PAGER_ROWS_MAX; of a longer text the last ones are kept, which the title says. Loop thread
 * only. */
#ifndef UI_TUI_PAGER_H
#define UI_TUI_PAGER_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/tui/tui_page.h"

enum { PAGER_ROWS_MAX = 200 * 1000 };

struct term_key;
struct tui_pager;

/* Writes the text to the page; called again when the width has changed. */
typedef void (*tui_pager_fill_fn)(struct tui_page *page, void *self);

/* title: constant text. is_at_end: the last rows are shown first. */
struct tui_pager *tui_pager_create(const char *title, bool has_color, bool is_at_end, tui_pager_fill_fn fill,
                                   void *self);
void tui_pager_destroy(struct tui_pager *pager); /* NULL is fine */
/* A character that closes the pager as q does; 0: none. */
void tui_pager_close_on(struct tui_pager *pager, char c);
void tui_pager_resize(struct tui_pager *pager, size_t rows, size_t columns);
/* Returns false when the key closes the pager. */
bool tui_pager_key(struct tui_pager *pager, const struct term_key *key);
/* Asks for a text to find. */
void tui_pager_ask(struct tui_pager *pager);
bool tui_pager_is_asking(const struct tui_pager *pager);
/* Appends the bytes that draw the whole screen. */
void tui_pager_draw(const struct tui_pager *pager, struct buf *out);

#endif
