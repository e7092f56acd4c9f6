/* user_message.h — what the user said, as a Responses input item (core 1.3). */
#ifndef ENGINE_USER_MESSAGE_H
#define ENGINE_USER_MESSAGE_H

#include "base/buf.h"
#include "protocol/record/types.h"

/* Appends {"type":"message","role":"user","content":[…]}. Image files are read here; relative paths are
 * below cwd; an unreadable or unknown one becomes a line of text that says so, and so does what passes LIMIT_IMAGE_FILE
 * of images together. Skills and mentions are named only where there is nothing else. */
void user_message_write(struct buf *out, const char *cwd, const struct user_input *items, size_t count);

/* A message of one text part: role is "user", "developer" or "assistant". */
void text_message_write(struct buf *out, const char *role, struct str text);

#endif
