/* term_width.h — grapheme clusters: where they end, how many columns they take, and how they are shown.
 *
 * One rule for wrapping, caret and tables. A character that could drive the terminal, change the order of others or
 * hide (control, bidirectional, zero width) is shown as an escape (^[, \u{202e}) and measured as that. The joiners and
 * variation selectors inside an emoji are kept. Loop thread only. */
#ifndef TERM_TERM_WIDTH_H
#define TERM_TERM_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct term_cluster {
	struct str bytes;
	unsigned width;  /* columns, as term_cluster_append writes it */
	bool is_escaped; /* at least one character is shown as an escape, or as U+FFFD */
};

/* Returns the first cluster of text, which is not empty. A tab is 4 columns wide. */
struct term_cluster term_cluster_next(struct str text);
/* Appends the form that is sent to the terminal. */
void term_cluster_append(struct buf *out, const struct term_cluster *cluster);
/* Returns the length in bytes of the last cluster of text; 0 for an empty text. Looks back one line at most. */
size_t term_cluster_last(struct str text);

/* True for characters that have no glyph of their own, or change the order of their neighbours. */
bool term_is_invisible(uint32_t code);

/* Returns the number of columns of a text. */
size_t term_width(struct str text);

#endif
