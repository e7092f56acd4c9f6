/* shell.h — the user's shell, and argument vectors as text.
 *
 * Owns: the path of the user's shell, found once. Thread: loop only.
 * Source: core 2.5 (command wrapping); quoting as Rust's shlex writes it, so that clients that
 * split the text with it, or compare it with upstream's, find what they expect. */
#ifndef COMMAND_SHELL_H
#define COMMAND_SHELL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/* The shell of the user's account if it is bash, zsh or sh, else /bin/bash, else /bin/sh.
 * The path lives as long as the thread. */
const char *shell_user(void);

/* "bash" of "/usr/bin/bash", as a tail of path. */
const char *shell_base_name(const char *path);
/* True for the shells that understand -c and -l: bash, zsh, sh. */
bool shell_is_known(const char *path);

/* The name of a program that is the system's: bare, or in a system folder. NULL for ./ls, which is whatever the
 * repository put there. */
const char *shell_system_name(const char *path);

/* A known shell that is the system's or the user's own: what it is given to run says what it will do. */
bool shell_is_trusted(const char *path);

enum { SHELL_ARGC = 3 };
/* { shell, "-lc" or "-c", script, NULL }: borrows all three. */
void shell_argv(const char *shell, const char *script, bool login, const char *ret_argv[SHELL_ARGC + 1]);

/* Appends the words, quoted where a shell would change them, joined by blanks: /bin/bash -lc 'echo hi'.
 * argv ends with NULL. */
void shell_join(struct buf *out, const char *const *argv);
/* Appends one word quoted so that any POSIX shell reads it back unchanged. */
void shell_quote(struct buf *out, struct str word);
/* The words of a line as shlex reads them: blanks part them, quotes and backslashes join. Nothing is expanded. False if
 * a quote is not closed. The words and the array (NULL at its end) live in the arena. */
bool shell_split(struct str line, struct arena *arena, const char ***ret_argv);

#endif
