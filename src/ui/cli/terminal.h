/* terminal.h — untrusted text, command lines and colours for a terminal.
 *
 * Control characters of untrusted text are made visible and never sent. */
#ifndef UI_TERMINAL_H
#define UI_TERMINAL_H

#include <stdbool.h>

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

/* An argument vector as a person would type it: the words quoted as a POSIX shell needs them, separated by blanks:
 * /bin/bash -lc 'echo hi'. */
void terminal_command_append(struct buf *out, const struct str *words, size_t count);

enum style { STYLE_plain, STYLE_bold, STYLE_dim, STYLE_red, STYLE_green, STYLE_yellow, STYLE_cyan, STYLE_magenta };

/* when: "always", "never", or "auto" / NULL: fd is a terminal, TERM is not dumb, NO_COLOR is unset or empty. */
bool terminal_has_color(const char *when, int fd);
/* The escape sequence, or "" if colour is off. */
const char *terminal_style(bool color, enum style style);

#endif
