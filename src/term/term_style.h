/* term_style.h — the styles of text, from term_style.def. */
#ifndef TERM_TERM_STYLE_H
#define TERM_TERM_STYLE_H

enum term_style {
#define TERM_STYLE(name, sgr, flat, slot) TERM_##name,
#include "term/term_style.def"
#undef TERM_STYLE
	TERM_CUSTOM = 1 << 24, /* and above: what a program has set in its output (term_sgr.h) */
};

#endif
