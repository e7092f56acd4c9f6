/* roff.h — text for the man macros: escaping, headings and paragraphs. Each function appends to a buffer. */
#ifndef MAN_ROFF_H
#define MAN_ROFF_H

#include "base/buf.h"
#include "base/str.h"

/* Appends plain text so that it is printed as it is. Does not end the line. */
void roff_append(struct buf *out, struct str text);

/* As roff_append, but `code` in backquotes becomes bold. */
void roff_append_marked(struct buf *out, struct str text);

/* Appends a line with marked text; ends it with a full stop if it has no punctuation there. */
void roff_sentence(struct buf *out, struct str text);

void roff_title(struct buf *out, const char *page, int section);
void roff_heading(struct buf *out, const char *macro, const char *text);

/* Begins a tagged paragraph; the caller appends the tag and ends its line. */
void roff_tag(struct buf *out);

/* Appends lines that are not filled, without `indent` leading blanks of each. */
void roff_verbatim(struct buf *out, struct str lines, size_t indent);

/* Appends paragraphs separated by empty lines; those that begin with a blank are verbatim. */
void roff_paragraphs(struct buf *out, struct str text);

#endif
