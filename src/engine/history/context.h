/* context.h — the conversation as the model sees it: serialized input items of the Responses API.
 *
 * An item is written once, as JSON text, and never moved or rewritten, so a request serializes only the new items
 * and may borrow the text while it is being sent. Owns: the text, which forks share. Invariant: each segment is a
 * comma-separated list of whole items. Loop thread only. */
#ifndef ENGINE_CONTEXT_H
#define ENGINE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

struct context_block;
struct shared_text;

struct context_item {
	/* read-only */
	uint32_t block;
	uint32_t at; /* offset of the item's text in the block; a comma precedes it */
	uint32_t len;
};

/* The part of a block that belongs to this context; other contexts may share a shorter or longer part. */
struct context_part {
	struct context_block *block;
	size_t len;
};

/* An item whose text must not be written to files. */
struct context_secret {
	size_t item;
	char *recorded; /* the JSON that is written to files instead, owned */
};

struct context_mark {
	struct str response_id; /* owned by the context */
	size_t known_count;     /* number of items when the response was complete, all of which the provider has */
	size_t item_count;      /* number of items when its turn ended, including outputs of its calls */
	size_t user_turns;      /* number of user turns at that time */
	bool ends_task;         /* the task was completed by this response */
	bool is_gone;           /* the provider does not have this response */
};

struct context {
	/* read-only */
	VEC(struct context_item) items;
	size_t bytes;
	size_t user_turns; /* number of messages of the user */
	/* not 0, and different for any two contexts that were not made from each other by appending items */
	uint64_t id;
	/* private */
	VEC(struct context_part) blocks;
	VEC(struct context_mark) marks;
	VEC(struct context_secret) secrets; /* in the order of the items */
};

void context_init(struct context *context);
void context_finish(struct context *context); /* frees everything; the context is then empty and can be used again */

/* Appends an item; json must be a single JSON object. */
void context_append(struct context *context, struct str json);
/* As context_append, for a secret item: files get `recorded` instead. */
void context_append_secret(struct context *context, struct str json, struct str recorded);
/* As context_append, but empties the buffer and adopts the memory of a large item. */
void context_take(struct context *context, struct buf *json);
struct str context_item_text(const struct context *context, size_t index);
/* Returns the text that consists of this large item, or NULL. Borrowed from the context. */
struct shared_text *context_item_whole(const struct context *context, size_t index);
/* Returns the item as it is written to files. */
struct str context_item_recorded(const struct context *context, size_t index);
/* Returns the segments of the list from item `from` on, as an array with room for one more segment. The caller owns the
 * array; the texts are borrowed until the context is truncated. */
struct str *context_segments(const struct context *context, size_t from, size_t *ret_count);
/* Fills an empty context with the first `count` items of another; their text is shared, not copied. */
void context_share(struct context *context, const struct context *from, size_t count);
/* Removes the items from index `count` on. No request may be borrowing them. */
void context_truncate(struct context *context, size_t count);

/* Marks the end of a response, for submissions that continue from its id. An empty id is ignored. */
void context_mark_response(struct context *context, struct str response_id);
/* Marks the end of this response's turn if its mark is the last one: the items since then belong to it. */
void context_mark_turn_end(struct context *context, struct str response_id);
/* Marks the end of a task if no item follows the last mark. */
void context_mark_task_end(struct context *context);
/* Returns the mark of a response, borrowed until the next change; NULL if there is no such mark. */
const struct context_mark *context_find_response(const struct context *context, struct str response_id);
/* Returns the response from which a provider that stores responses can continue; NULL if it needs the whole history. */
const struct context_mark *context_find_chain(const struct context *context);
/* Makes context_find_chain return NULL until the next response, because the provider has none of the marked ones. */
void context_break_chain(struct context *context);
/* Removes the items after the end of the mark's turn. */
void context_rewind(struct context *context, const struct context_mark *mark);

#endif
