/* command_text.h — an argument vector as a person would type it. */
#ifndef UI_COMMAND_TEXT_H
#define UI_COMMAND_TEXT_H

#include "base/buf.h"

/* Appends the words quoted as a POSIX shell needs them, joined by blanks: /bin/bash -lc 'echo hi'. */
void command_text_append(struct buf *out, const struct str *words, size_t count);

#endif
