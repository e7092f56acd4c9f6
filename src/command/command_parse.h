/* command_parse.h — a conservative reader of shell text: plain commands, or "unknown".
 *
 * It accepts only scripts that bash, zsh and sh read alike and that consist of plain words joined by && || ; | and
 * line ends. Substitutions, redirections, variables, groups, background commands, assignments and control structures
 * are unknown, as is everything that a careful reader would have to look up. So decisions about trust may take the
 * words as what will run.
 *
 * Thread: any. Ownership: texts live in the given arena. */
#ifndef COMMAND_COMMAND_PARSE_H
#define COMMAND_COMMAND_PARSE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

struct command_word {
	const char *text; /* as the command gets it, except for ~ and patterns, which stay as written */
	bool can_vary;    /* contains a pattern (*.c, -e[x]ec): the files of the folder decide what it becomes */
};

struct plain_command {
	struct command_word *words;
	size_t count; /* at least 1 */
};

struct command_list {
	struct plain_command *commands;
	size_t count; /* at least 1 */
};

/* The commands that an argument vector (NULL at its end) runs: those of the script if it is the system's or the
 * user's own bash, zsh or sh with -c or -lc, else the vector itself. False: unknown, as for other programs with such
 * a name. */
bool command_parse_argv(const char *const *argv, struct arena *arena, struct command_list *ret);

/* True if the word is text, or has a pattern that could become text; letter case is ignored, as shells can be set to
 * do. A pattern that exceeds the budget could become anything. */
bool command_word_can_be(const struct command_word *word, struct str text);

#endif
