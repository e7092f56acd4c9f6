/* tui_composer.h — the text that the user writes: several lines, a caret, the last kill, history, large pastes.
 *
 * Owns: its texts. A paste of more than COMPOSER_PASTE_SHOWN characters is shown as [Pasted Content N chars], which is
 * one unit for Backspace; composer_take returns the whole text. Loop thread only. */
#ifndef UI_TUI_COMPOSER_H
#define UI_TUI_COMPOSER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/vec.h"
#include "term/term_keys.h"

enum { COMPOSER_PASTE_SHOWN = 1000 };

struct term_paint;
struct term_row;

struct composer_paste {
	char *mark; /* as it stands in the text */
	char *text;
};

struct composer {
	/* private */
	struct buf text;
	size_t caret; /* offset in text, at a cluster's boundary */
	struct buf killed;
	struct buf draft; /* the text that was left for the history */
	VEC(char *) history;
	size_t at; /* entry in the text; history.count: the draft */
	VEC(struct composer_paste) pastes;
};

void composer_init(struct composer *composer);
void composer_finish(struct composer *composer);

/* Handles a key of the editor. False: not one. */
bool composer_key(struct composer *composer, const struct term_key *key);
void composer_paste(struct composer *composer, struct str text);
bool composer_is_empty(const struct composer *composer);
/* Appends the text with its pastes to out, adds the text to the history and empties the composer. */
void composer_take(struct composer *composer, struct buf *out);
/* Replaces the text; the caret stands at its end. */
void composer_set(struct composer *composer, struct str text);
struct str composer_text(const struct composer *composer);

/* Adds at most `most` rows to the frame, those around the caret, and sets the caret. Returns their number. */
size_t composer_draw(const struct composer *composer, struct term_paint *paint, struct term_row *row, size_t columns,
                     size_t most);

#endif
