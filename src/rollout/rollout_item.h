/* rollout_item.h — the items of a history, as stored in a rollout.
 *
 * Owns: nothing. Any thread. */
#ifndef ROLLOUT_ROLLOUT_ITEM_H
#define ROLLOUT_ROLLOUT_ITEM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/str.h"

enum rollout_item_kind {
#define ITEM(wire, fate) ITEM_KIND_##wire,
#define PRIVATE(member)
#define CONTEXT(prefix)
#include "rollout/rollout_item.def"
#undef ITEM
#undef PRIVATE
#undef CONTEXT
	ITEM_KIND_count,
	ITEM_KIND_unknown = ITEM_KIND_count
};

/* A request must contain an output for each call, and a call for each output. */
enum rollout_call { ROLLOUT_NO_CALL, ROLLOUT_CALL, ROLLOUT_CALL_OUTPUT };

enum rollout_item_kind rollout_item_kind(struct str type);
/* True for a call that changes the checklist or asks the user, of which no event is recorded, and for its output. item:
 * JSON that begins with its type. */
bool rollout_item_is_checklist(struct str item);
/* True if items of this kind are part of a request. */
bool rollout_item_is_sent(enum rollout_item_kind kind);

/* Returns the item's role for the call that its call_id names. */
enum rollout_call rollout_item_call(const struct json *item);

/* True for a message of role user that the user wrote. */
bool rollout_item_is_user_message(const struct json *item);
/* True for a message of the preamble: role developer, or role user without the user's text. */
bool rollout_item_is_context(const struct json *item);

/* Removes the members that are not for a model from the item's bytes, in place, and returns the remaining text. The
 * tree of `item` is stale afterwards. Its text must be writable memory of the caller. */
struct str rollout_item_strip(const struct json *item);

/* The budget in tokens for user messages that remain in a history after its compaction. */
enum { ROLLOUT_KEPT_TOKENS = 20000 };

/* Returns the part of an item that remains after a compaction: the item itself if it is a user message, its text
 * alone (written to spare) if it contains images or exceeds the budget, STR_NONE for other items. Uses up the
 * budget; walk the history backwards, so that the newest messages remain. The engine's compaction and the reader of
 * sessions from before 2026, which recorded only the summary, must produce the same history. */
struct str rollout_kept_item(const struct json *item, size_t *tokens_left, struct buf *spare);

/* Writes {"type":"message","role":"user","content":[{"type":"input_text","text":…}]}. */
void rollout_write_user(struct buf *out, struct str text);

#endif
