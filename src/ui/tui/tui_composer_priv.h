/* tui_composer_priv.h — shared by tui_composer.c (editing), tui_composer_marks.c (pastes, images, taking the text) and
 * tui_composer_history.c (recall and search). */
#ifndef UI_TUI_COMPOSER_PRIV_H
#define UI_TUI_COMPOSER_PRIV_H

#include "ui/tui/tui_composer.h"

enum { HISTORY_MAX = 2000, SEARCH_MAX = 256 };

/* Inserts text at the caret. */
void composer_insert(struct composer *composer, struct str text);

void composer_drop_marks(struct composer *composer);

/* Adds an entry to the history, and leaves the recall. */
void composer_remember(struct composer *composer, struct str text);
/* Shows another entry of the history; the draft is kept. */
void composer_recall(struct composer *composer, size_t at);
void composer_search_begin(struct composer *composer);
/* False: the search has ended with the entry found, and the key is the editor's. */
bool composer_search_key(struct composer *composer, const struct term_key *key);

#endif
