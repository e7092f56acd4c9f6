/* command_parse.h — a conservative reader of shell text: plain commands, or "don't know".
 *
 * It answers only for scripts that bash, zsh and sh read alike and that consist of plain words joined by && || ; |
 * and line ends. Anything that substitutes, redirects, expands a variable, groups, runs in the background, assigns or
 * begins a control structure is not understood, and neither is anything a careful person would have to look up. Who
 * decides about trust may therefore take the words as what will run.
 *
 * Thread: any. Ownership: texts live in the arena given. Source: core 2.1. */
#ifndef COMMAND_COMMAND_PARSE_H
#define COMMAND_COMMAND_PARSE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

struct command_word {
	const char *text; /* as the command gets it, but for ~ and patterns, which stand as written */
	bool can_vary;    /* contains a pattern (*.c, -e[x]ec): the folder decides which words it becomes */
};

struct plain_command {
	struct command_word *words;
	size_t count; /* at least 1 */
};

struct command_list {
	struct plain_command *commands;
	size_t count; /* at least 1 */
};

/* The commands that an argument vector (NULL at its end) runs: those of its script if it is the system's or the user's
 * own bash, zsh or sh with -c or -lc, else itself. False: don't know, as of any other program by such a name. */
bool command_parse_argv(const char *const *argv, struct arena *arena, struct command_list *ret);

/* True if the word is text, or contains a pattern that could become text; names are compared in either case, as shells
 * can be set to. A pattern that is too complex to tell could become anything. */
bool command_word_can_be(const struct command_word *word, struct str text);

#endif
