/* rules_parse.h — parses a .rules file into calls with literal arguments.
 *
 * The format is the subset of Starlark that is data: calls of functions by name, at the top level, whose arguments
 * are texts, lists, True, False, None or numbers, with or without a name; comments; trailing commas. Variables,
 * operators, loops and definitions are errors with a line number: the file that restricts commands must not be a
 * program.
 *
 * Ownership: everything lives in the arena; texts without escapes are slices of the input. Errors are "SOURCE:LINE:
 * reason" (ERR_config). At most LIMIT_RULES_DEPTH nested lists. */
#ifndef COMMAND_RULES_PARSE_H
#define COMMAND_RULES_PARSE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/arena.h"

struct error;

enum rules_kind { RULES_text, RULES_list, RULES_bool, RULES_none, RULES_number };

struct rules_value {
	enum rules_kind kind;
	struct str text; /* a number keeps its spelling */
	bool is_true;
	struct rules_value *items; /* the items of a list */
	size_t count;
};

struct rules_argument {
	struct str name; /* STR_NONE for a positional argument */
	struct rules_value value;
};

struct rules_call {
	struct str name;
	unsigned line; /* counted from 1 */
	struct rules_argument *arguments;
	size_t count;
};

must_check int rules_parse(struct str text, const char *source, struct arena *arena, struct rules_call **ret_calls,
                           size_t *ret_count, struct error *err);

/* Returns the argument with that name or at that position, or NULL. */
const struct rules_value *rules_argument_find(const struct rules_call *call, const char *name, size_t position);

#endif
