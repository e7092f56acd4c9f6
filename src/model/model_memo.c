/* Text is copied once, when its round is kept. The blocks that hold it are never reallocated, because a request that is
 * still being sent has slices of them. */
#include "model/model_memo.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

enum { FIRST_BLOCK = 4096, LAST_BLOCK = 256 * 1024, FIRST_IDS = 64 };

void model_memo_unref(struct model_memo *memo)
{
	if (!memo || --memo->refs > 0)
		return;
	vec_for_each(block, &memo->blocks)
		free(block->bytes);
	vec_finish(&memo->blocks);
	vec_finish(&memo->names);
	vec_finish(&memo->ids);
	buf_finish(&memo->tools);
	buf_finish(&memo->system);
	arena_finish(&memo->arena);
	free(memo);
}

static struct model_memo *new_memo(const struct memo_key *key)
{
	struct model_memo *memo = xnew(struct model_memo);
	memo->refs = 1;
	memo->key = *key;
	memo->key.provider = arena_str(&memo->arena, key->provider);
	memo->key.tools = arena_str(&memo->arena, key->tools);
	buf_init(&memo->tools, LIMIT_REQUEST_BODY);
	buf_init(&memo->system, LIMIT_REQUEST_FRAME);
	return memo;
}

static bool has_key(const struct model_memo *memo, const struct memo_key *key)
{
	const struct memo_key *own = &memo->key;
	return key->history_id && own->history_id == key->history_id && own->wire == key->wire &&
	       own->has_images == key->has_images && own->has_thoughts == key->has_thoughts &&
	       own->has_flat_tools == key->has_flat_tools && str_eq(own->provider, key->provider) &&
	       str_eq(own->tools, key->tools);
}

static bool is_in_input(const struct memo_place *place, const struct str *input, size_t input_count)
{
	return place->rounds == 0 || (place->slice < input_count && place->offset <= input[place->slice].len);
}

struct model_memo *model_memo_get(struct model_memo **slot, const struct memo_key *key, const struct str *input,
                                  size_t input_count)
{
	if (!slot)
		return new_memo(key);
	if (!*slot || !has_key(*slot, key) || !is_in_input(&(*slot)->place, input, input_count)) {
		model_memo_unref(*slot);
		*slot = new_memo(key);
	}
	(*slot)->refs++;
	return *slot;
}

/* ---- text ---- */

/* Returns the place for `size` more bytes. */
static char *room(struct model_memo *memo, size_t size)
{
	struct memo_block *last = memo->blocks.count ? &memo->blocks.items[memo->blocks.count - 1] : NULL;
	if (!last || last->cap - last->len < size) {
		size_t cap = last && last->cap * 2 > FIRST_BLOCK ? last->cap * 2 : FIRST_BLOCK;
		cap = cap < LAST_BLOCK ? cap : LAST_BLOCK;
		cap = cap < size ? size : cap;
		vec_push(&memo->blocks, (struct memo_block){.bytes = xmalloc(cap), .cap = cap});
		last = &memo->blocks.items[memo->blocks.count - 1];
	}
	last->len += size;
	return last->bytes + last->len - size;
}

int model_memo_keep(struct model_memo *memo, struct buf *round, struct memo_place next, struct error *err)
{
	if (round->over || memo->len + round->len > LIMIT_REQUEST_BODY)
		return error_set(err, ERR_limit, "the request is longer than %d MiB; start a new thread",
		                 LIMIT_REQUEST_BODY / MIB);
	if (round->len)
		memcpy(room(memo, round->len), round->data, round->len);
	memo->len += round->len;
	memo->place = next;
	buf_reuse(round);
	return 0;
}

/* ---- ids ---- */

/* Returns the place of an id in the table: its own, or a free one. */
static struct str *find_id(const struct model_memo *memo, struct str id)
{
	size_t mask = memo->ids.count - 1, at = str_hash(id) & mask;
	while (memo->ids.items[at].ptr && !str_eq(memo->ids.items[at], id))
		at = (at + 1) & mask;
	return &memo->ids.items[at];
}

bool model_memo_has_id(const struct model_memo *memo, struct str id)
{
	return memo->ids.count && find_id(memo, id)->ptr;
}

static void grow_ids(struct model_memo *memo)
{
	size_t old_count = memo->ids.count;
	struct str *old = memo->ids.items;
	memo->ids.count = memo->ids.cap = old_count ? 2 * old_count : FIRST_IDS;
	memo->ids.items = xcalloc(memo->ids.count, sizeof(*memo->ids.items));
	for (size_t i = 0; i < old_count; i++) {
		if (old[i].ptr)
			*find_id(memo, old[i]) = old[i];
	}
	free(old);
}

void model_memo_add_id(struct model_memo *memo, struct str id)
{
	if (2 * memo->id_count >= memo->ids.count)
		grow_ids(memo);
	struct str *place = find_id(memo, id);
	memo->id_count += !place->ptr;
	*place = arena_str(&memo->arena, id);
}
