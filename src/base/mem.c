/* Out of memory ends the process with a line on stderr: after a failed allocation the engine could not guarantee
 * anything about the commands that it runs. */
#include "base/mem.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void mem_close_slot(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static _Noreturn void mem_exhausted(void)
{
	static const char text[] = "codex: out of memory\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)ignored;
	abort();
}

void *xmalloc(size_t size)
{
	void *ptr = malloc(size ? size : 1);
	if (!ptr)
		mem_exhausted();
	return ptr;
}

void *xcalloc(size_t count, size_t size)
{
	void *ptr = calloc(count ? count : 1, size ? size : 1);
	if (!ptr)
		mem_exhausted();
	return ptr;
}

void *xrealloc(void *old, size_t size)
{
	void *ptr = realloc(old, size ? size : 1);
	if (!ptr)
		mem_exhausted();
	return ptr;
}

void mem_items_grow(void *vec, size_t size)
{
	struct mem_items *grown = vec;
	grown->cap = grown->cap ? grown->cap * 2 : 8;
	grown->items = xrealloc(grown->items, grown->cap * size);
}

void mem_items_finish(void *vec)
{
	struct mem_items *ended = vec;
	free(ended->items);
	*ended = (struct mem_items){0};
}

char *xstrndup(const char *text, size_t len)
{
	char *copy = xmalloc(len + 1);
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

char *xstrdup(const char *text)
{
	return xstrndup(text, strlen(text));
}

char *xasprintf(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, format);
	int len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		mem_exhausted();
	return text;
}

void mem_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
