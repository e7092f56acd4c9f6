/* Grows by half, so that appending byte by byte costs O(1) each and a 30 MB message does not reserve 60 MB. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

extern void buf_init(struct buf *buf, size_t max);
extern struct str buf_str(const struct buf *buf);

void buf_finish(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){.max = buf->max};
}

char *buf_reserve(struct buf *buf, size_t extra)
{
	if (buf->over || extra > buf->max || buf->len > buf->max - extra) {
		buf->over = true;
		return NULL;
	}
	size_t need = buf->len + extra + 1;
	if (need > buf->cap) {
		size_t cap = buf->cap + buf->cap / 2;
		if (cap < need)
			cap = need < 64 ? 64 : need;
		if (cap > buf->max + 1)
			cap = buf->max + 1;
		buf->data = xrealloc(buf->data, cap);
		buf->cap = cap;
	}
	return buf->data + buf->len;
}

void buf_append(struct buf *buf, const void *bytes, size_t len)
{
	char *room = buf_reserve(buf, len);
	if (!room)
		return;
	if (len)
		memcpy(room, bytes, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_append_str(struct buf *buf, struct str text)
{
	buf_append(buf, text.ptr, text.len);
}

void buf_append_c(struct buf *buf, const char *text)
{
	buf_append(buf, text, strlen(text));
}

void buf_append_char(struct buf *buf, char c)
{
	buf_append(buf, &c, 1);
}

void buf_vprintf(struct buf *buf, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len < 0)
		return;
	char *room = buf_reserve(buf, (size_t)len);
	if (!room)
		return;
	vsnprintf(room, (size_t)len + 1, format, args);
	buf->len += (size_t)len;
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	buf_vprintf(buf, format, args);
	va_end(args);
}

void buf_consume(struct buf *buf, size_t count)
{
	if (count >= buf->len) {
		buf->len = 0;
	} else {
		memmove(buf->data, buf->data + count, buf->len - count);
		buf->len -= count;
	}
	if (buf->data)
		buf->data[buf->len] = '\0';
}

void buf_truncate(struct buf *buf, size_t len)
{
	buf->over = false;
	if (len >= buf->len)
		return;
	buf->len = len;
	buf->data[len] = '\0';
}

void buf_clear(struct buf *buf)
{
	buf_truncate(buf, 0);
}

void buf_reuse(struct buf *buf)
{
	if (buf->cap > LIMIT_KEPT_MEMORY)
		buf_finish(buf);
	else
		buf_clear(buf);
}

char *buf_take(struct buf *buf)
{
	char *data = buf->data ? buf->data : xstrdup("");
	*buf = (struct buf){.max = buf->max};
	return data;
}
