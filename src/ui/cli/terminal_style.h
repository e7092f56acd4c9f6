/* terminal_style.h — colour where it helps and is wanted: on terminals, never against NO_COLOR. */
#ifndef UI_TERMINAL_STYLE_H
#define UI_TERMINAL_STYLE_H

#include <stdbool.h>

enum style { STYLE_plain, STYLE_bold, STYLE_dim, STYLE_red, STYLE_green, STYLE_yellow, STYLE_cyan, STYLE_magenta };

/* when: "always", "never", or "auto" / NULL: fd is a terminal, TERM is not dumb, NO_COLOR is unset or empty. */
bool terminal_has_color(const char *when, int fd);
/* The escape sequence, or "" if colour is off. */
const char *terminal_style(bool color, enum style style);

#endif
