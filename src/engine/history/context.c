/* Blocks never move: a request that is still being sent keeps slices of them while its response is appended. The first
 * block is small, so that an idle thread stays small. */
#include "engine/history/context.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/shared_text.h"

enum { FIRST_BLOCK = 4096, LAST_BLOCK = 256 * 1024 };

struct context_block {
	size_t refs; /* number of contexts that use it; a shared block is never appended to */
	size_t cap;
	char *bytes;               /* in the memory after the struct, or that of whole */
	struct shared_text *whole; /* the only item of this block, or NULL */
};

static void unref_block(struct context_block *block)
{
	if (--block->refs > 0)
		return;
	shared_text_unref(block->whole);
	free(block);
}

/* Contexts of a session that is being resumed are made in another thread. */
static uint64_t new_id(void)
{
	static _Atomic uint64_t last;
	return ++last;
}

void context_init(struct context *context)
{
	*context = (struct context){.id = new_id()};
}

static void drop_secrets_past(struct context *context, size_t count)
{
	while (context->secrets.count && context->secrets.items[context->secrets.count - 1].item >= count)
		free(context->secrets.items[--context->secrets.count].recorded);
}

void context_finish(struct context *context)
{
	vec_for_each(part, &context->blocks)
		unref_block(part->block);
	vec_for_each(mark, &context->marks)
		str_free(&mark->response_id);
	vec_finish(&context->blocks);
	drop_secrets_past(context, 0);
	vec_finish(&context->items);
	vec_finish(&context->marks);
	vec_finish(&context->secrets);
	context->bytes = context->user_turns = 0;
	context->id = new_id();
}

static struct context_part *last_part(const struct context *context)
{
	return context->blocks.count ? &context->blocks.items[context->blocks.count - 1] : NULL;
}

static struct context_part *part_with_room(struct context *context, size_t size)
{
	struct context_part *last = last_part(context);
	if (last && last->block->refs == 1 && last->block->cap - last->len >= size)
		return last;
	bool is_fork = last && last->block->refs > 1; /* forks often stay short */
	size_t cap = last && !is_fork ? last->block->cap * 2 : FIRST_BLOCK;
	if (cap > LAST_BLOCK)
		cap = LAST_BLOCK;
	if (cap < size)
		cap = size;
	struct context_block *block = xmalloc(sizeof(*block) + cap);
	*block = (struct context_block){.refs = 1, .cap = cap, .bytes = (char *)(block + 1)};
	vec_push(&context->blocks, (struct context_part){.block = block});
	return last_part(context);
}

void context_append(struct context *context, struct str json)
{
	struct context_part *part = part_with_room(context, json.len + 1);
	if (part->len)
		part->block->bytes[part->len++] = ',';
	struct context_item item = {
		.block = (uint32_t)(context->blocks.count - 1), .at = (uint32_t)part->len, .len = (uint32_t)json.len};
	memcpy(part->block->bytes + part->len, json.ptr, json.len);
	part->len += json.len;
	context->bytes += json.len;
	vec_push(&context->items, item);
}

void context_append_secret(struct context *context, struct str json, struct str recorded)
{
	vec_push(&context->secrets, (struct context_secret){context->items.count, str_dup(recorded)});
	context_append(context, json);
}

struct str context_item_recorded(const struct context *context, size_t index)
{
	vec_for_each(secret, &context->secrets) {
		if (secret->item == index)
			return str_of(secret->recorded);
	}
	return context_item_text(context, index);
}

void context_take(struct context *context, struct buf *json)
{
	if (json->len < LAST_BLOCK) {
		context_append(context, buf_str(json));
		buf_finish(json);
		return;
	}
	struct context_block *block = xnew(struct context_block);
	struct context_item item = {.block = (uint32_t)context->blocks.count, .len = (uint32_t)json->len};
	*block = (struct context_block){.refs = 1, .cap = json->len};
	block->whole = shared_text_take(json);
	block->bytes = (char *)(uintptr_t)shared_text_str(block->whole).ptr;
	context->bytes += item.len;
	vec_push(&context->blocks, (struct context_part){block, item.len});
	vec_push(&context->items, item);
}

struct str context_item_text(const struct context *context, size_t index)
{
	const struct context_item *item = &context->items.items[index];
	return str_n(context->blocks.items[item->block].block->bytes + item->at, item->len);
}

struct shared_text *context_item_whole(const struct context *context, size_t index)
{
	return context->blocks.items[context->items.items[index].block].block->whole;
}

struct str *context_segments(const struct context *context, size_t from, size_t *ret_count)
{
	*ret_count = 0;
	struct str *segments = xcalloc(context->blocks.count + 1, sizeof(*segments));
	if (from >= context->items.count)
		return segments;
	const struct context_item *first = &context->items.items[from];
	for (size_t i = first->block; i < context->blocks.count; i++) {
		const struct context_part *part = &context->blocks.items[i];
		size_t at = i == first->block ? first->at : 0;
		segments[(*ret_count)++] = str_n(part->block->bytes + at, part->len - at);
	}
	return segments;
}

void context_share(struct context *context, const struct context *from, size_t count)
{
	if (count > from->items.count)
		count = from->items.count;
	context->id = new_id();
	size_t blocks = count ? from->items.items[count - 1].block + 1 : 0;
	for (size_t i = 0; i < blocks; i++) {
		from->blocks.items[i].block->refs++;
		vec_push(&context->blocks, from->blocks.items[i]);
	}
	context->items.items = xcalloc(count ? count : 1, sizeof(*context->items.items));
	context->items.cap = count ? count : 1;
	context->items.count = count;
	for (size_t i = 0; i < count; i++) {
		context->items.items[i] = from->items.items[i];
		context->bytes += from->items.items[i].len;
	}
	if (count)
		last_part(context)->len = context->items.items[count - 1].at + context->items.items[count - 1].len;
	vec_for_each(secret, &from->secrets) {
		if (secret->item < count)
			vec_push(&context->secrets, (struct context_secret){secret->item, xstrdup(secret->recorded)});
	}
	context->user_turns = from->user_turns;
}

static void drop_marks_past(struct context *context, size_t item_count)
{
	while (context->marks.count && context->marks.items[context->marks.count - 1].item_count > item_count)
		str_free(&context->marks.items[--context->marks.count].response_id);
}

void context_truncate(struct context *context, size_t count)
{
	if (context->items.count > count)
		context->id = new_id();
	while (context->items.count > count) {
		struct context_item item = context->items.items[--context->items.count];
		context->blocks.items[item.block].len = item.at ? item.at - 1 : 0;
		context->bytes -= item.len;
		while (context->blocks.count && last_part(context)->len == 0)
			unref_block(context->blocks.items[--context->blocks.count].block);
	}
	drop_secrets_past(context, count);
	drop_marks_past(context, count);
}

void context_mark_response(struct context *context, struct str response_id)
{
	if (response_id.len == 0)
		return;
	struct context_mark mark = {
		.response_id = str_copy(response_id),
		.known_count = context->items.count,
		.item_count = context->items.count,
		.user_turns = context->user_turns,
	};
	vec_push(&context->marks, mark);
}

void context_mark_turn_end(struct context *context, struct str response_id)
{
	struct context_mark *last = context->marks.count ? &context->marks.items[context->marks.count - 1] : NULL;
	if (!last || !str_eq(last->response_id, response_id))
		return;
	last->item_count = context->items.count;
	last->user_turns = context->user_turns;
}

void context_mark_task_end(struct context *context)
{
	if (context->marks.count == 0)
		return;
	struct context_mark *last = &context->marks.items[context->marks.count - 1];
	last->ends_task = last->item_count == context->items.count;
}

const struct context_mark *context_find_response(const struct context *context, struct str response_id)
{
	for (size_t i = context->marks.count; i > 0; i--) {
		if (str_eq(context->marks.items[i - 1].response_id, response_id))
			return &context->marks.items[i - 1];
	}
	return NULL;
}

const struct context_mark *context_find_chain(const struct context *context)
{
	const struct context_mark *last = context->marks.count ? &context->marks.items[context->marks.count - 1] : NULL;
	return last && !last->is_gone ? last : NULL;
}

void context_break_chain(struct context *context)
{
	vec_for_each(mark, &context->marks)
		mark->is_gone = true;
}

void context_rewind(struct context *context, const struct context_mark *mark)
{
	context->user_turns = mark->user_turns;
	context_truncate(context, mark->item_count);
}
