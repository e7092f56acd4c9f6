/* command_parse.h — a conservative reader of shell text: plain commands, or "unknown".
 *
 * It accepts only scripts that bash, zsh and sh read alike and that consist of plain words joined by && || ; | and
 * line ends. Substitutions, redirections, variables, groups, background commands, assignments and control structures
 * are unknown, as is any rarely used construct. So decisions about trust may assume that exactly these words will
 * run.
 *
 * Thread: any. Ownership: texts live in the given arena. */
#ifndef COMMAND_COMMAND_PARSE_H
#define COMMAND_COMMAND_PARSE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

/* Stands in a word for a variable, substitution or escape whose value is not known; only command_scan.h reports it. */
enum { COMMAND_EXPANSION = '\x01' };

struct command_word {
	const char *text; /* as the command receives it, but ~ and patterns are not expanded */
	bool can_vary;    /* contains COMMAND_EXPANSION or a pattern (*.c), which expands to names of files */
};

struct plain_command {
	struct command_word *words;
	size_t count; /* at least 1 */
};

struct command_list {
	struct plain_command *commands;
	size_t count; /* at least 1 */
};

/* Parses an argument vector that ends with NULL into the commands that it runs: those of the script if it is the
 * system's or the user's own bash, zsh or sh with -c or -lc, else the vector itself. False if they are unknown, as
 * for other programs named like a shell. */
bool command_parse_argv(const char *const *argv, struct arena *arena, struct command_list *ret);

#endif
