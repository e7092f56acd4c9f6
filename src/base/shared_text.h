/* shared_text.h — immutable texts with several owners: the same system prompt in a thousand sessions, or a large
 * message that is in the history and in events.
 *
 * Every reference is ended with shared_text_unref. Any thread. */
#ifndef BASE_SHARED_TEXT_H
#define BASE_SHARED_TEXT_H

#include "base/str.h"

struct buf;
struct shared_text;

/* Returns a reference to a text with these bytes, which are copied unless an interned text with them exists. Costs a
 * comparison with each interned text of the same length. */
struct shared_text *shared_text_intern(struct str bytes);
/* Returns a reference to a text that is not interned. Takes the memory of bytes, which is empty afterwards. */
struct shared_text *shared_text_take(struct buf *bytes);
struct shared_text *shared_text_ref(struct shared_text *text);
/* NULL is a no-op. */
void shared_text_unref(struct shared_text *text);

/* Returns the bytes, followed by a NUL, valid as long as a reference is held; STR_NONE for NULL. */
struct str shared_text_str(const struct shared_text *text);

#endif
