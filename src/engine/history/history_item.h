/* history_item.h — writes items of a history as JSON: messages of the user and of the program, and items of a
 * model's response that are sent back to it. Private to engine/. Any thread; user_message_write reads files. */
#ifndef ENGINE_HISTORY_ITEM_H
#define ENGINE_HISTORY_ITEM_H

#include "base/buf.h"
#include "protocol/record/types.h"

struct json;

/* Appends {"type":"message","role":"user","content":[…]}. Reads image files; relative paths start at cwd. An image that
 * is unreadable, of an unknown type, or beyond LIMIT_IMAGE_FILE for all images together becomes a text part that says
 * so. The names of skills and mentions are added only if there is no other part. */
void user_message_write(struct buf *out, const char *cwd, const struct user_input *items, size_t count);

/* Appends a message with a single text part; role is "user", "developer" or "assistant". */
void text_message_write(struct buf *out, const char *role, struct str text);

/* Appends an item of a response as it is sent back: without its id and without null members, which some providers
 * refuse in a request. Returns where in out the copy of the byte at `place` is, which is in the value of a member, or 0
 * if that member is left out. place may be NULL. */
size_t response_item_write(struct buf *out, const struct json *item, const char *place);

/* Returns the text of a message's parts, concatenated: borrowed from the message if it has one part, else from
 * `spare`. */
struct str response_item_text(struct buf *spare, const struct json *message);
/* Returns the words of a search for people: what was searched, the page, or 'PATTERN' in PAGE. action: of a
 * web_search_call, or NULL. Allocated in the arena, or borrowed from the action. */
struct str web_search_words(const struct json *action, struct arena *arena);

#endif
