/* A bump allocator: the data of one event, parsed message or config is freed together. Blocks double in size up to a
 * maximum, so a message of n bytes costs O(log n) mallocs. */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/shared_text.h"

enum { BLOCK_FIRST = 512, BLOCK_CEILING = 256 * 1024, ALIGNMENT = _Alignof(max_align_t) };

struct arena_block {
	struct arena_block *older;
	size_t size;
	_Alignas(max_align_t) char bytes[];
};

struct arena_hold {
	struct arena_hold *older;
	struct shared_text *text;
};

static void drop_holds(struct arena *arena)
{
	for (struct arena_hold *hold = arena->holds; hold; hold = hold->older)
		shared_text_unref(hold->text);
	arena->holds = NULL;
}

void arena_finish(struct arena *arena)
{
	drop_holds(arena);
	struct arena_block *block = arena->blocks;
	while (block) {
		struct arena_block *older = block->older;
		free(block);
		block = older;
	}
	*arena = (struct arena){0};
}

void arena_reset(struct arena *arena)
{
	struct arena_block *newest = arena->blocks;
	if (!newest || newest->size > BLOCK_CEILING) {
		arena_finish(arena);
		return;
	}
	drop_holds(arena);
	struct arena rest = {.blocks = newest->older};
	arena_finish(&rest);
	newest->older = NULL;
	arena->free_at = newest->bytes;
	arena->free_end = newest->bytes + newest->size;
}

static void arena_grow(struct arena *arena, size_t size)
{
	size_t want = arena->blocks ? arena->blocks->size * 2 : BLOCK_FIRST;
	if (want > BLOCK_CEILING)
		want = BLOCK_CEILING;
	if (want < size)
		want = size;
	struct arena_block *block = xmalloc(sizeof(*block) + want);
	block->older = arena->blocks;
	block->size = want;
	arena->blocks = block;
	arena->free_at = block->bytes;
	arena->free_end = block->bytes + want;
}

void *arena_alloc_raw(struct arena *arena, size_t size)
{
	size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (rounded < size)
		abort();
	if (!arena->blocks || (size_t)(arena->free_end - arena->free_at) < rounded)
		arena_grow(arena, rounded);
	char *at = arena->free_at;
	arena->free_at += rounded;
	return at;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	char *at = arena_alloc_raw(arena, size);
	return memset(at, 0, size);
}

void arena_hold(struct arena *arena, struct shared_text *text)
{
	struct arena_hold *hold = arena_new(arena, struct arena_hold);
	*hold = (struct arena_hold){arena->holds, shared_text_ref(text)};
	arena->holds = hold;
}

void arena_hold_all(struct arena *arena, const struct arena *from)
{
	for (const struct arena_hold *hold = from->holds; hold; hold = hold->older)
		arena_hold(arena, hold->text);
}

void arena_adopt(struct arena *arena, struct arena *from)
{
	struct arena_block **oldest = &from->blocks;
	struct arena_hold **last = &from->holds;
	if (!arena->blocks) {
		*arena = *from;
	} else {
		while (*oldest)
			oldest = &(*oldest)->older;
		while (*last)
			last = &(*last)->older;
		*oldest = arena->blocks->older;
		arena->blocks->older = from->blocks;
		*last = arena->holds;
		arena->holds = from->holds;
	}
	*from = (struct arena){0};
}

static bool is_held(const struct arena *arena, struct str text)
{
	for (const struct arena_hold *hold = arena->holds; hold; hold = hold->older) {
		struct str all = shared_text_str(hold->text);
		if (text.ptr >= all.ptr && text.len <= all.len && text.ptr <= all.ptr + (all.len - text.len))
			return true;
	}
	return false;
}

struct str arena_str(struct arena *arena, struct str text)
{
	if (!text.ptr || is_held(arena, text))
		return text;
	char *copy = arena_alloc_raw(arena, text.len + 1);
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	return str_n(copy, text.len);
}

const char *arena_cstr(struct arena *arena, struct str text)
{
	return arena_str(arena, text.ptr ? text : STR("")).ptr;
}

const char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	char *text = arena_alloc_raw(arena, (size_t)(len < 0 ? 0 : len) + 1);
	va_start(args, format);
	vsnprintf(text, (size_t)(len < 0 ? 0 : len) + 1, format, args);
	va_end(args);
	return text;
}
