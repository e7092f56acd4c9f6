/* mem.h — allocation that cannot fail, and locals with automatic cleanup.
 *
 * Out of memory ends the process: sizes from outside are checked against base/limits.h first. A local marked auto_* is
 * freed at the end of its scope; `return steal(p)` passes the value to the caller instead. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));
void *xrealloc(void *ptr, size_t size) __attribute__((returns_nonnull, alloc_size(2)));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *text, size_t len) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2), malloc, returns_nonnull));

/* Allocates one zeroed struct of the type. */
#define xnew(type) ((type *)xcalloc(1, sizeof(type)))

static inline void mem_free_slot(void *slot)
{
	free(*(void **)slot);
}

void mem_close_slot(const int *fd);

#define auto_free __attribute__((cleanup(mem_free_slot)))
#define auto_close __attribute__((cleanup(mem_close_slot)))

/* The members of a growing array; base/vec.h gives it a type. */
struct mem_items {
	void *items;
	size_t count;
	size_t cap;
};

/* Doubles the room for items, each of `size` bytes. vec: a struct mem_items, or one with a typed pointer. */
void mem_items_grow(void *vec, size_t size);
void mem_items_finish(void *vec);

#define mem_items_reserve(vec)                                                \
	do {                                                                  \
		if ((vec)->count == (vec)->cap)                               \
			mem_items_grow(&(vec)->items, sizeof(*(vec)->items)); \
	} while (0)
#define mem_items_release(vec) mem_items_finish(&(vec)->items)

/* Moves the value out of a local, so that its cleanup is a no-op. */
#define steal(ptr)                          \
	({                                  \
		__typeof__(ptr) _p = (ptr); \
		(ptr) = NULL;               \
		_p;                         \
	})

static inline int steal_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

#define countof(array) (sizeof(array) / sizeof((array)[0]))
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Returns freed memory to the system; the allocator does not do so while a later allocation above it is in use. Costs
 * about 1 ms per 30 MB: use it after freeing something large. */
void mem_trim(void);

#endif
