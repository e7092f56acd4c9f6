/* shared_text.h — immutable texts that are stored once per process, however many owners they have: the same system
 * prompt in a thousand sessions.
 *
 * Every reference is ended with shared_text_unref. Any thread. */
#ifndef BASE_SHARED_TEXT_H
#define BASE_SHARED_TEXT_H

#include "base/str.h"

struct shared_text;

/* Returns a reference to a text with these bytes, which are copied unless a text with them exists. Costs a comparison
 * with each live text of the same length. */
struct shared_text *shared_text_intern(struct str bytes);
struct shared_text *shared_text_ref(struct shared_text *text);
/* NULL is a no-op. */
void shared_text_unref(struct shared_text *text);

/* Returns the bytes, followed by a NUL, valid as long as a reference is held; STR_NONE for NULL. */
struct str shared_text_str(const struct shared_text *text);

#endif
