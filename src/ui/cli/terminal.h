/* terminal.h — prepares untrusted text, command lines and colours for a terminal.
 *
 * Control characters of untrusted text are made visible and never sent. */
#ifndef UI_TERMINAL_H
#define UI_TERMINAL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends text in a form that is safe for a terminal: control characters are shown (^[), characters that have no
 * glyph or change the order of others are named (<U+202E>), and ill-formed bytes become U+FFFD. Tabs and line ends
 * are kept. */
void terminal_text_append(struct buf *out, struct str text);
/* Prints what and an error to stderr: names of files and keys in it may have control characters. */
void terminal_complain(const char *what, struct str text);
/* Returns the longest prefix of text that certainly fits into that many columns, in whole characters; one that is
 * not ASCII counts as two columns. */
struct str terminal_text_cut(struct str text, size_t columns);
/* Returns the visible part of a printed line: the text after its last carriage return. */
struct str terminal_text_line(struct str line);

/* Returns the number of columns of the terminal at fd; 80 if unknown. */
size_t terminal_columns(int fd);

/* Appends an argument vector as a user would type it: words separated by blanks and quoted for a POSIX shell, as in
 * /bin/bash -lc 'echo hi'. */
void terminal_command_append(struct buf *out, const struct str *words, size_t count);
/* As terminal_command_append, but of a trusted shell with a script only the script. */
void terminal_script_append(struct buf *out, const struct str *words, size_t count);
/* The same for a line that has the words joined. */
void terminal_line_append(struct buf *out, struct str line);

enum style { STYLE_plain, STYLE_bold, STYLE_dim, STYLE_red, STYLE_green, STYLE_yellow, STYLE_cyan, STYLE_magenta };

/* when is "always", "never", or "auto" (also NULL): true if fd is a terminal, TERM is not dumb and NO_COLOR is unset
 * or empty. */
bool terminal_has_color(const char *when, int fd);
/* Returns the escape sequence, or "" if colour is off. */
const char *terminal_style(bool color, enum style style);

#endif
