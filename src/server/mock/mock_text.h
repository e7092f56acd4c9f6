/* mock_text.h — substitutes {i} and taken values in the texts of a script.
 *
 * Owns: the taken values. Thread: any, one at a time. {word} is unchanged if the word is not a variable. */
#ifndef SERVER_MOCK_TEXT_H
#define SERVER_MOCK_TEXT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct mock_request;
struct mock_takes;
struct mock_text;

struct mock_var {
	struct str name;
	struct str value;
};

/* The variables; an all-zero struct has none. */
struct mock_vars {
	uint64_t round; /* the value of {i}: the iteration of the repeat, from 1; 0: not in a repeat */
	/* private */
	struct arena arena;
	struct mock_var *items;
	size_t count;
};

/* Extracts the values from the request; err names a missing one. */
must_check int mock_vars_take(struct mock_vars *vars, const struct mock_takes *takes,
                              const struct mock_request *request, struct error *err);
void mock_vars_finish(struct mock_vars *vars);

/* True if text needs no substitution. */
bool mock_text_is_plain(const struct mock_text *text, const struct mock_vars *vars);
void mock_text_append(struct buf *out, const struct mock_text *text, const struct mock_vars *vars);
void mock_vars_append(struct buf *out, struct str text, const struct mock_vars *vars);
/* Appends `size` bytes of the repeated pattern, the first of which is pattern[skip % len]. */
void mock_fill_append(struct buf *out, struct str pattern, uint64_t skip, uint64_t size);

#endif
