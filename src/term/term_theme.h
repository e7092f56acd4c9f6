/* term_theme.h — the colours of the styles (term_style.def). There is one terminal, so there is one theme in use.
 *
 * Loop thread only. */
#ifndef TERM_TERM_THEME_H
#define TERM_TERM_THEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "term/term_style.h"

enum {
	TERM_THEMES = 0
#define THEME(name, ...) +1
#include "term/term_theme.def"
#undef THEME
};

const char *term_theme_name(size_t index);
/* Uses a theme; an unknown name is the first one. color, term: the variables COLORTERM and TERM, which may be NULL: a
 * terminal with 256 colours gets the nearest ones, one with fewer its own. */
void term_theme_use(struct str name, const char *color, const char *term);
/* Returns the number of the nearest colour in the cube of terminals with 256. */
unsigned term_theme_nearest(uint32_t rgb);
/* Returns the parameters of SGR for a style of term_style.def. */
const char *term_theme_sgr(enum term_style style, bool has_color);

#endif
