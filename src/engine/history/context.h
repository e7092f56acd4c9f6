/* context.h — the conversation as the model sees it: Responses input items, kept serialised.
 *
 * Items are appended once, as JSON text, and never moved or rewritten, so the next request costs its
 * new bytes only and may borrow the old ones while it is being sent (performance 11).
 * Owns: the text, which it may share with other contexts (a fork). Invariant: each segment is a
 * comma-separated list of whole items.
 * Loop thread only. */
#ifndef ENGINE_CONTEXT_H
#define ENGINE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

struct context_block;

struct context_item {
	/* read-only */
	uint32_t block;
	uint32_t at; /* offset of the item's text in the block, behind its comma */
	uint32_t len;
};

/* A block as one context sees it: others that share it may have less or more of it. */
struct context_part {
	struct context_block *block;
	size_t len;
};

/* An item that files must not have as it is. */
struct context_secret {
	size_t item;
	char *recorded; /* owned: what they have in its place, JSON */
};

struct context_mark {
	struct str response_id; /* owned by the context */
	size_t known_count;     /* items there were when the model had answered: it knows them */
	size_t item_count;      /* and when its Turn was over, outputs of its calls included */
	size_t user_turns;      /* user turns there were then */
	bool ends_task;         /* a Task completed with it */
	bool is_gone;           /* the provider does not have this response (any more) */
};

struct context {
	/* read-only */
	VEC(struct context_item) items;
	size_t bytes;
	size_t user_turns; /* messages of the user */
	/* private */
	VEC(struct context_part) blocks;
	VEC(struct context_mark) marks;
	VEC(struct context_secret) secrets; /* in the order of the items */
};

void context_init(struct context *context);
void context_finish(struct context *context); /* it is empty then, and usable */

/* Appends one item; json must be one JSON object. */
void context_append(struct context *context, struct str json);
/* The same for an item of which files shall have `recorded` instead. */
void context_append_secret(struct context *context, struct str json, struct str recorded);
/* The same; the buffer is left empty, and a large item is not copied. */
void context_take(struct context *context, struct buf *json);
struct str context_item_text(const struct context *context, size_t index);
/* The item as files may have it. */
struct str context_item_recorded(const struct context *context, size_t index);
/* The segments of the list from that item on, as an array owned by the caller that has room for one more; its
 * texts are borrowed until truncation. */
struct str *context_segments(const struct context *context, size_t from, size_t *ret_count);
/* Begins an empty context as the first `count` items of another; their text is shared, not copied. */
void context_share(struct context *context, const struct context *from, size_t count);
/* Forgets all items from `count` on. No request may be borrowing them. */
void context_truncate(struct context *context, size_t count);

/* Remembers where a response ended, for forks by response id (protocol-v1 6, row 3). An empty id marks nothing. */
void context_mark_response(struct context *context, struct str response_id);
/* The Turn of that response, which was marked last, is over: what came since belongs to it. */
void context_mark_turn_end(struct context *context, struct str response_id);
/* The Task ends with the response marked last, if nothing came behind it. */
void context_mark_task_end(struct context *context);
/* NULL if there was no such response; borrowed until the next change. */
const struct context_mark *context_find_response(const struct context *context, struct str response_id);
/* The response that a provider which keeps them can go on from; NULL if it has to be told everything. */
const struct context_mark *context_find_chain(const struct context *context);
/* The provider has none of the responses so far. */
void context_break_chain(struct context *context);
/* Goes back to where the Turn of the mark was over. */
void context_rewind(struct context *context, const struct context_mark *mark);

#endif
