/* command_grammar.h — the meaning of single words of shell text, for command_scan.c.
 *
 * Owns nothing. Thread: any. */
#ifndef COMMAND_COMMAND_GRAMMAR_H
#define COMMAND_COMMAND_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

/* True for the bytes that end a word without quotes, and for NUL. */
bool command_ends_word(char c);
/* Returns the length of a brace expansion at the start of text, 0 without one. A long text counts as one. */
size_t command_brace_length(struct str text);
/* Returns the number of words, from this one on, that are not the command: those of the grammar, and assignments. */
size_t command_grammar_width(const char *word);
/* True for the 2 of "2>x". */
bool command_is_descriptor(struct str word, char after);
/* True if a command with these words reads its input as a script: a shell, or the builtin in ". /dev/stdin". */
bool command_reads_script(const char *word, const char *next);
/* Returns the end mark of a here-document as its lines show it, without quotes and backslashes. In the arena. */
struct str command_here_mark(struct str mark, struct arena *arena);

#endif
