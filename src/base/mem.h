/* mem.h — allocation that cannot fail, and locals that clean up after themselves.
 *
 * Out of memory ends the process: sizes that come from outside pass a limit from base/limits.h first.
 * auto_* marks a local whose end is its scope; `return steal(p)` hands the value on instead. */
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

/* Allocates one zeroed struct. */
#define xnew(type) ((type *)xcalloc(1, sizeof(type)))

static inline void mem_free_slot(void *slot)
{
	free(*(void **)slot);
}

static inline void mem_close_slot(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define auto_free __attribute__((cleanup(mem_free_slot)))
#define auto_close __attribute__((cleanup(mem_close_slot)))

/* Takes the value out of a local so that its cleanup does nothing. */
#define steal(ptr)                         \
	({                                 \
		__typeof__(ptr) _p = (ptr); \
		(ptr) = NULL;              \
		_p;                        \
	})

static inline int steal_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

#define countof(array) (sizeof(array) / sizeof((array)[0]))
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Gives freed memory back to the system, which an allocator does not do by itself where something younger is still in
 * use above it. Costs about a millisecond per 30 MB: for the end of something big, not for every day. */
void mem_trim(void);

#endif
