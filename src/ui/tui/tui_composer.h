/* tui_composer.h — the text that the user writes: several lines, a caret, the last kill, history, pastes and images.
 *
 * Owns: its texts. A paste of more than COMPOSER_PASTE_SHOWN characters is shown as [Pasted Content N chars] and an
 * image as [Image #N]; such a mark is one unit for the caret and for Backspace. Loop thread only. */
#ifndef UI_TUI_COMPOSER_H
#define UI_TUI_COMPOSER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/vec.h"
#include "term/term_keys.h"

enum { COMPOSER_PASTE_SHOWN = 1000 };

struct exec_images;
struct term_paint;
struct term_row;

struct composer_mark {
	char *mark;      /* as it stands in the text */
	char *text;      /* the paste; NULL for an image */
	char *image;     /* the path of the image, or NULL */
	unsigned number; /* of the image */
};

struct composer_vim {
	bool is_on, is_normal;
	char pending;    /* an operator, or the first letter of gg; 0: none */
	unsigned count;  /* typed before a command; 0: none */
	bool is_kept;    /* undo has the text before the current command */
	struct buf undo; /* the text before the last change */
	size_t undo_caret;
	bool undo_is_shell;
};

struct composer {
	/* private */
	struct buf text;
	size_t caret;  /* offset in text, at a cluster's boundary, not inside a mark */
	bool is_shell; /* the text is a command for the user's shell; its "!" is not in it */
	struct buf killed;
	bool has_killed, joins; /* the last key has killed; so the present one adds to it */
	struct buf draft;       /* the text that was left for the history */
	bool draft_is_shell;
	VEC(char *) history;
	size_t at; /* entry in the text; history.count: the draft */
	VEC(struct composer_mark) marks;
	bool is_searching;
	struct buf search;
	size_t found; /* the entry that matches; history.count: none yet */
	struct composer_vim vim;
};

void composer_init(struct composer *composer);
void composer_finish(struct composer *composer);

/* Handles a key of the editor or of the search. False: not one. */
bool composer_key(struct composer *composer, const struct term_key *key);
void composer_paste(struct composer *composer, struct str text);
void composer_set_vim(struct composer *composer, bool is_on);
/* Handles a key of vim's normal mode, and the Esc that begins it. False: not one, or vim mode is off. */
bool composer_vim_key(struct composer *composer, const struct term_key *key);
/* Inserts the mark of an image. */
void composer_attach(struct composer *composer, const char *path);
bool composer_is_empty(const struct composer *composer);
/* Appends the text with its pastes to out, adds it to the history and empties the composer. The images are appended to
 * `images`, which may be NULL. The text of a shell command begins with "!". */
void composer_take(struct composer *composer, struct buf *out, struct exec_images *images);
/* Replaces the text; the caret stands at its end. A text that begins with "!" is a shell command. */
void composer_set(struct composer *composer, struct str text);
struct str composer_text(const struct composer *composer);

/* Returns the word, without blanks, that the caret stands in or after, up to the caret, and its offset. */
struct str composer_word(const struct composer *composer, size_t *ret_from);
/* Replaces text[from, caret). */
void composer_complete(struct composer *composer, size_t from, struct str with);

/* Puts entries before all others of the history, oldest first; takes them over. */
void composer_add_older(struct composer *composer, char **texts, size_t count);

/* Returns the number of its rows. */
size_t composer_rows(const struct composer *composer, size_t columns);
/* Adds at most `most` rows to the frame, those around the caret, and sets the caret. Returns their number. */
size_t composer_draw(const struct composer *composer, struct term_paint *paint, struct term_row *row, size_t columns,
                     size_t most);

#endif
