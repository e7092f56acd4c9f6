/* term_markdown.h — Markdown as rows: headings, lists, quotes, tables, code, emphasis, links with their addresses.
 *
 * md4c parses. It is opened by the first text that has markup; where it is missing, the text is shown as it is. Loop
 * thread only. */
#ifndef TERM_TERM_MARKDOWN_H
#define TERM_TERM_MARKDOWN_H

#include "base/str.h"
#include "term/term_text.h"

/* Writes a complete text. Nothing in it is lost: what has no visible form (a definition of a link, for example) is
 * written as it is. */
void term_markdown_write(struct str text, struct term_margin *margin, const struct term_sink *sink);

#endif
