/* json_peek.h — reads one member of a truncated JSON object.
 *
 * Owns nothing. Any thread. Skipped values are not validated: this is for texts that were rejected already. */
#ifndef BASE_JSON_PEEK_H
#define BASE_JSON_PEEK_H

#include <stdbool.h>

#include "base/str.h"

/* True if text begins as an object. */
bool json_peek_is_object(struct str text);
/* True if the outermost object has a member of that name (unescaped) within the text. */
bool json_peek_has(struct str text, const char *name);
/* Sets *ret to the text of the first member with that name, a slice. False if it is missing or incomplete. */
bool json_peek_member(struct str text, const char *name, struct str *ret);

#endif
