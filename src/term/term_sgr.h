/* term_sgr.h — colours and looks that a program has set in its output with CSI … m (SGR).
 *
 * Bold, dim, italic, underlined and inverse text, and the 256 colours; an RGB colour becomes the nearest of them. Other
 * parameters have no effect, and other sequences are text. Zero-initialised. */
#ifndef TERM_TERM_SGR_H
#define TERM_TERM_SGR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "term/term_style.h"

struct term_sgr {
	uint16_t looks, front, back; /* colours: 0 is the usual one, else the number of the colour + 1 */
};

/* Cuts the sequences at the beginning of *rest and the text after them off. False: only sequences were left. */
bool term_sgr_next(struct term_sgr *sgr, struct str *rest, struct str *ret_text);
/* Takes over what the terminal's background is, for all texts; before, it is not known. */
void term_sgr_set_ground(bool is_light);
/* Returns the style of the text: `usual` if the program has set nothing, or only colours and has_color is false.
 * Colours that would hide the text do not count: the same for text and background, and one for the text alone that is
 * nearly black on a dark ground, or white on a light one. */
enum term_style term_sgr_style(const struct term_sgr *sgr, enum term_style usual, bool has_color);
/* Returns the parameters for a style of term_sgr_style; valid until the next call. */
const char *term_sgr_parameters(enum term_style style);

#endif
