/* tui_composer_priv.h — shared by tui_composer.c (editing), tui_composer_marks.c (pastes, images, taking the text),
 * tui_composer_history.c (recall and search) and tui_composer_vim.c (vim's normal mode). */
#ifndef UI_TUI_COMPOSER_PRIV_H
#define UI_TUI_COMPOSER_PRIV_H

#include "base/limits.h"
#include "ui/tui/tui_composer.h"
#include "ui/tui/tui_limits.h"

/* Inserts text at the caret. */
void composer_insert(struct composer *composer, struct str text);
/* Replaces text[from, to) and leaves the caret after the replacement. Text that does not fit is not inserted. */
void composer_replace(struct composer *composer, size_t from, size_t to, struct str with);
/* Removes text[from, to) and keeps it for yanking. */
void composer_kill(struct composer *composer, size_t from, size_t to);

/* Places, as offsets: of the caret's line, of the words around it, and of the cluster or mark before and after it. */
size_t composer_line_start(const struct composer *composer);
size_t composer_line_end(const struct composer *composer);
size_t composer_word_start(const struct composer *composer);
size_t composer_word_end(const struct composer *composer);
size_t composer_unit_start(const struct composer *composer);
size_t composer_unit_end(const struct composer *composer);
bool composer_is_word(char c);
/* Moves a caret that stands inside a mark to one of its ends. */
void composer_leave_mark(struct composer *composer, bool is_forward);
/* Move the caret by a line, at the first and last one through the history. */
void composer_up(struct composer *composer);
void composer_down(struct composer *composer);

/* Vim mode: a text that begins is in insert mode. */
void composer_vim_reset(struct composer *composer);

void composer_drop_marks(struct composer *composer);

/* Adds an entry to the history, and leaves the recall. */
void composer_remember(struct composer *composer, struct str text);
/* Shows another entry of the history; the draft is kept. */
void composer_recall(struct composer *composer, size_t at);
void composer_search_begin(struct composer *composer);
/* False: the search has ended with the entry found, and the key is the editor's. */
bool composer_search_key(struct composer *composer, const struct term_key *key);

#endif
