/* fuzzy.h — scores how well typed letters match a path.
 *
 * A query is words separated by blanks; the letters of each must occur in the path in their order, in either case.
 * Letters at the start of a part or word score more, gaps score less. A path whose last part contains the whole query
 * ranks before the others, and one whose last part equals it first.
 *
 * Owns: scratch memory. Thread: one at a time. No function fails. The weights reproduce the scores of codex 0.169. */
#ifndef WORKSPACE_FUZZY_H
#define WORKSPACE_FUZZY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct fuzzy;

/* Prepares a query; one of more than LIMIT_FUZZY_QUERY characters matches nothing. */
struct fuzzy *fuzzy_create(struct str query);
void fuzzy_destroy(struct fuzzy *fuzzy); /* NULL is fine */

/* Returns the set of characters of a path, for fuzzy_may_match. Several characters can share a bit. */
uint64_t fuzzy_letters(struct str path);
/* False if a path with these characters cannot match. */
bool fuzzy_may_match(const struct fuzzy *fuzzy, uint64_t letters);
/* Returns the score of a path; 0: no match. Only its first LIMIT_FUZZY_PATH characters are used. A score below `least`
 * may be replaced by a lower one that is not 0: the caller needs to know only that the path matches. */
uint32_t fuzzy_score(struct fuzzy *fuzzy, struct str path, bool is_folder, uint32_t least);
/* The least score of a file whose name matches. A folder's is lower by this for the same name. */
enum { FUZZY_NAME = 1 << 16 };
/* Lower bounds for a path in parts: it can match only if the letters of the first word that occur in order in the
 * folder and those at the word's end that occur in order in the name are at least as many as the word has. */
size_t fuzzy_first_word(const struct fuzzy *fuzzy);
size_t fuzzy_head(const struct fuzzy *fuzzy, struct str folder);
size_t fuzzy_tail(const struct fuzzy *fuzzy, struct str name);
/* As fuzzy_score, and sets *ret to the indices of the matched characters (not bytes), in ascending order; borrowed
 * until the next call. */
uint32_t fuzzy_match(struct fuzzy *fuzzy, struct str path, bool is_folder, const uint32_t **ret_indices,
                     size_t *ret_count);

#endif
