/* term_style.h — the styles of text, from term_style.def. */
#ifndef TERM_TERM_STYLE_H
#define TERM_TERM_STYLE_H

enum term_style {
#define TERM_STYLE(name, sgr, flat, slot) TERM_##name,
#include "term/term_style.def"
#undef TERM_STYLE
};

#endif
