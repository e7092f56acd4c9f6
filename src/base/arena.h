/* arena.h — many small allocations that are freed together.
 *
 * Owns: everything allocated from it, and a reference to each text that it holds. No allocation is freed alone;
 * arena_finish frees all.
 * Memory is aligned for any type and zeroed. An all-zero struct arena is a valid empty one. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/str.h"

struct arena_block;
struct arena_hold;
struct shared_text;

struct arena {
	/* private */
	struct arena_block *blocks; /* newest first */
	struct arena_hold *holds;   /* allocated in the blocks */
	char *free_at;
	char *free_end;
};

void arena_finish(struct arena *arena); /* frees all memory; the arena is empty and can be used again */
/* Frees all allocations but keeps the newest block for reuse, unless it is large. */
void arena_reset(struct arena *arena);
#define auto_arena __attribute__((cleanup(arena_finish)))

void *arena_alloc(struct arena *arena, size_t size) __attribute__((returns_nonnull));
/* As arena_alloc, but the memory is not zeroed: for callers that write every byte. */
void *arena_alloc_raw(struct arena *arena, size_t size) __attribute__((returns_nonnull));
/* Copies text into the arena and terminates it with NUL. STR_NONE stays STR_NONE. A part of a held text is returned as
 * it is, without a copy and a NUL. */
struct str arena_str(struct arena *arena, struct str text);
const char *arena_cstr(struct arena *arena, struct str text) __attribute__((returns_nonnull));
const char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

/* Keeps a reference to a text until the arena is finished or reset. */
void arena_hold(struct arena *arena, struct shared_text *text);
/* Holds all texts that another arena holds. */
void arena_hold_all(struct arena *arena, const struct arena *from);

/* Moves all that another arena owns into this one; the other is empty then. */
void arena_adopt(struct arena *arena, struct arena *from);

#define arena_new(arena, type) ((type *)arena_alloc(arena, sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_alloc(arena, sizeof(type) * (count)))

#endif
