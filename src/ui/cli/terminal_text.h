/* terminal_text.h — text from outside on its way to a terminal: nothing in it is obeyed. */
#ifndef UI_TERMINAL_TEXT_H
#define UI_TERMINAL_TEXT_H

#include "base/buf.h"
#include "base/str.h"

/* Appends text with control characters shown (^[) instead of sent, and with those that have no glyph or change the
 * order of others named (<U+202E>); tabs and line ends stay, bytes that are no UTF-8 become U+FFFD. */
void terminal_text_append(struct buf *out, struct str text);
/* The longest start of text that surely fits in so many columns: whole characters, where one that is not
 * ASCII counts two. */
struct str terminal_text_cut(struct str text, size_t columns);
/* The visible part of a printed line: the text after its last carriage return. */
struct str terminal_text_line(struct str line);

/* Columns of the terminal at fd; 80 if it does not say. */
size_t terminal_columns(int fd);

#endif
