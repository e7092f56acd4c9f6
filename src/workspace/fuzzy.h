/* fuzzy.h — how well some typed letters fit a path.
 *
 * A query is words between blanks; the letters of each must occur in the path, in their order, whatever their case.
 * Letters at the beginning of a part or word count more, gaps count against; a path whose last part has it all comes
 * before the others, one whose last part is the query before those.
 * Owns: room to reckon. Thread: one at a time. Nothing here fails.
 * Source: the scores of app-server captures [fuzzy], which these weights reproduce. */
#ifndef WORKSPACE_FUZZY_H
#define WORKSPACE_FUZZY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct fuzzy;

/* A query beyond LIMIT_FUZZY_QUERY characters fits nothing. */
struct fuzzy *fuzzy_create(struct str query);
void fuzzy_destroy(struct fuzzy *fuzzy); /* NULL is fine */

/* 0: it does not fit. Paths of more than LIMIT_FUZZY_PATH characters are looked at no further. */
uint32_t fuzzy_score(struct fuzzy *fuzzy, struct str path, bool is_folder);
/* The same, and which characters (not bytes) of the path are meant, rising; borrowed until the next call. */
uint32_t fuzzy_match(struct fuzzy *fuzzy, struct str path, bool is_folder, const uint32_t **ret_indices,
                     size_t *ret_count);

#endif
