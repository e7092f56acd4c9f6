/* term_paint.h — the rows at the bottom of the terminal that belong to the program, and the lines above them.
 *
 * A frame consists of finished lines, which go to the terminal's scrollback once and are never drawn again, and of the
 * live rows below them, which are drawn by differences. The painter writes bytes into a buf; it knows no terminal. The
 * terminal's earlier content is never erased, and no row uses the last column.
 *
 * Use: any number of term_paint_commit, then term_paint_live for each row, term_paint_caret, term_paint_frame.
 * Owns: the rows. Loop thread only. */
#ifndef TERM_TERM_PAINT_H
#define TERM_TERM_PAINT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

struct term_paint;
struct term_row;

struct term_paint *term_paint_create(void);
void term_paint_destroy(struct term_paint *paint); /* NULL is fine */

/* Adds a finished line, above the live rows. */
void term_paint_commit(struct term_paint *paint, const struct term_row *row);
/* Adds a row of the next frame, below the rows before. Returns its index. */
size_t term_paint_live(struct term_paint *paint, const struct term_row *row);
/* Sets the place of the caret in the next frame. */
void term_paint_caret(struct term_paint *paint, size_t row, size_t column);
/* Appends the bytes that turn the last frame into this one; nothing if both are the same. */
void term_paint_frame(struct term_paint *paint, struct buf *out);

/* The terminal has this many columns now: the next frame draws all live rows again, over the old ones, which the
 * terminal may have wrapped. */
void term_paint_resize(struct term_paint *paint, size_t columns);
/* Erases the live rows, so that other text can follow, and writes pending lines. The next frame starts at the cursor.
 */
void term_paint_leave(struct term_paint *paint, struct buf *out);
/* The cursor stands in another place, below other output: the next frame starts there. */
void term_paint_forget(struct term_paint *paint);

#endif
