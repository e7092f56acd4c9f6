/* mock_text.h — the texts of a script, with {i} and taken values put in.
 *
 * Owns: the taken values. Thread: any, one at a time. {word} for a word that is no variable stays as it is. */
#ifndef SERVER_MOCK_TEXT_H
#define SERVER_MOCK_TEXT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct error;
struct mock_request;
struct mock_takes;
struct mock_text;

struct mock_var {
	struct str name;
	struct str value;
};

/* What may stand in braces. All-zero: nothing. */
struct mock_vars {
	uint64_t round; /* value of {i}: which time a repeat does its steps, from 1; 0: not in a repeat */
	/* private */
	struct arena arena;
	struct mock_var *items;
	size_t count;
};

/* Cuts the values out of the request; err names the one that is not there. */
int mock_vars_take(struct mock_vars *vars, const struct mock_takes *takes, const struct mock_request *request,
                   struct error *err);
void mock_vars_finish(struct mock_vars *vars);

/* True if appending text would give exactly its bytes. */
bool mock_text_is_plain(const struct mock_text *text, const struct mock_vars *vars);
void mock_text_append(struct buf *out, const struct mock_text *text, const struct mock_vars *vars);
void mock_vars_append(struct buf *out, struct str text, const struct mock_vars *vars);
/* `size` bytes of pattern, of which the first is pattern[skip % len]. */
void mock_fill_append(struct buf *out, struct str pattern, uint64_t skip, uint64_t size);

#endif
