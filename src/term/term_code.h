/* term_code.h — highlighting of source code, one line after the other.
 *
 * A lexer that knows comments, texts, numbers and keywords of the languages of term_language.def; what it does not know
 * is plain. Every byte of a line is part of the result. Borrows nothing. Loop thread only. */
#ifndef TERM_TERM_CODE_H
#define TERM_TERM_CODE_H

#include "base/str.h"

struct term_text;
struct term_language;

/* The state between lines. Zero: plain text. */
struct term_code {
	/* private */
	const struct term_language *language;
	const char *until; /* ends the comment or text that an earlier line has begun; NULL: none */
};

/* Starts code in a language by its name in Markdown ("c", "Python", "sh"); unknown names are plain text. */
void term_code_init(struct term_code *code, struct str name);
/* Returns the name of the language of a file, by its suffix; empty if it is unknown. */
struct str term_code_name(struct str path);
/* Appends one line, without its line end. */
void term_code_add(struct term_code *code, struct str line, struct term_text *text);

#endif
