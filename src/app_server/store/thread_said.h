/* thread_said.h — what the user and the model have said in a thread: what a search looks at.
 * Owns: nothing. Any thread; thread_said_read blocks. */
#ifndef APP_SERVER_THREAD_SAID_H
#define APP_SERVER_THREAD_SAID_H

#include "base/buf.h"
#include "protocol/message/app.h"

/* The n-th text that was said in an item; STR_NONE: there are no more. */
struct str thread_said_text(const struct app_thread_item *item, size_t n);
/* Appends all that was said in this rollout, split by newlines; false if it cannot be read now. A file that is no
 * rollout says nothing. */
bool thread_said_read(const char *path, struct buf *out);

#endif
