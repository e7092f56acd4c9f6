/* page_vec.h — a VEC in pages of its own instead of the heap.
 *
 * A process that was forked from one with threads must not use the heap, because another thread may have held its lock.
 * Owns: its storage. A vec has one kind of storage: only these functions change it. */
#ifndef BASE_PAGE_VEC_H
#define BASE_PAGE_VEC_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/vec.h"

enum { PAGE_VEC_BYTES = 16384 }; /* of the first storage, about */

/* No-op for NULL. */
static inline void page_vec_free(void *pages, size_t size)
{
	if (pages)
		munmap(pages, size);
}

/* Returns zeroed pages with the content of old, which are freed. old: NULL, or as returned. */
static inline void *page_vec_grow(void *old, size_t old_size, size_t size)
{
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		abort(); /* as mem.h: out of memory ends the process */
	if (old)
		memcpy(pages, old, old_size);
	page_vec_free(old, old_size);
	return pages;
}

#define page_vec_push(vec, ...)                                                                       \
	do {                                                                                          \
		size_t _item = sizeof(*(vec)->items), _cap = (vec)->cap;                              \
		if ((vec)->count == _cap) {                                                           \
			(vec)->cap = _cap ? 2 * _cap : 1 + PAGE_VEC_BYTES / _item;                    \
			(vec)->items = page_vec_grow((vec)->items, _cap * _item, (vec)->cap * _item); \
		}                                                                                     \
		(vec)->items[(vec)->count++] = (__VA_ARGS__);                                         \
	} while (0)

#define page_vec_finish(vec)                                                     \
	do {                                                                     \
		page_vec_free((vec)->items, (vec)->cap * sizeof(*(vec)->items)); \
		(vec)->items = NULL;                                             \
		(vec)->count = (vec)->cap = 0;                                   \
	} while (0)

#endif
