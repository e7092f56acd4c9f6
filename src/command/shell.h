/* shell.h — finds the user's shell, and converts argument vectors to text.
 *
 * Owns: the path of the user's shell, looked up once. Thread: the loop's. Quoting is that of Rust's shlex, so that
 * clients can split the text with it and compare it with that of codex 0.169. */
#ifndef COMMAND_SHELL_H
#define COMMAND_SHELL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/* Returns the shell of the user's account if it is bash, zsh or sh, else /bin/bash, else /bin/sh. The path lives as
 * long as the thread. */
const char *shell_user(void);

/* Returns the last part of path: "bash" for "/usr/bin/bash". */
const char *shell_base_name(const char *path);
/* True for the shells that understand -c and -l: bash, zsh, sh. */
bool shell_is_known(const char *path);

/* Returns the name of a program of the system: one without a folder, or in a system folder. NULL for ./ls, which can
 * be any program of the repository. */
const char *shell_system_name(const char *path);

/* True if path is a known shell that belongs to the system or is the user's own, so that its script shows what it
 * will run. */
bool shell_is_trusted(const char *path);

enum { SHELL_ARGC = 3 };
/* Fills an argument vector { shell, "-lc" or "-c", script, NULL }; borrows all texts. */
void shell_argv(const char *shell, const char *script, bool login, const char *ret_argv[SHELL_ARGC + 1]);

/* Appends the words as a command line, quoted where a shell would change them: /bin/bash -lc 'echo hi'. argv ends
 * with NULL. */
void shell_join(struct buf *out, const char *const *argv);
/* Appends the command as its user reads it: the script of a trusted shell alone, else as shell_join does. */
void shell_show(struct buf *out, const char *const *argv);
/* As shell_show, for a line that shell_join wrote; any other line is appended as it is. */
void shell_show_line(struct buf *out, struct str line);
/* Appends one word quoted so that any POSIX shell reads it back unchanged. */
void shell_quote(struct buf *out, struct str word);
/* Splits a line into words as shlex does: blanks separate them, quotes and backslashes join, nothing is expanded.
 * False if a quote is not closed. The words and their array, which ends with NULL, live in the arena. */
bool shell_split(struct str line, struct arena *arena, const char ***ret_argv);

#endif
