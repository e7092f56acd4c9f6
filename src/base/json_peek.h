/* json_peek.h — one member of a JSON object of which only the beginning is there.
 *
 * Owns nothing. Any thread. What is skipped is not checked: this is for texts that were refused already. */
#ifndef BASE_JSON_PEEK_H
#define BASE_JSON_PEEK_H

#include <stdbool.h>

#include "base/str.h"

/* True if text begins as an object. */
bool json_peek_is_object(struct str text);
/* Whether the outermost object has a member of that name (in plain letters), as far as the text goes. */
bool json_peek_has(struct str text, const char *name);
/* The text of the first one: a slice. False if it is not there, or not all of it. */
bool json_peek_member(struct str text, const char *name, struct str *ret);

#endif
