/* buf.h — bytes that grow up to a maximum.
 *
 * Owns: its memory. An append that would exceed `max` adds nothing and sets `over`, which stays set: append everything,
 * then check once. `data` is NUL-terminated after the first append. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct buf {
	char *data; /* NULL until the first append */
	size_t len;
	/* private */
	size_t cap;
	size_t max;
	bool over; /* set when an append exceeded `max` */
};

/* max: the largest number of bytes that the buf may hold. */
#ifdef CODEX_SMALL /* as in base/str.h */
void buf_init(struct buf *buf, size_t max);
#else
inline void buf_init(struct buf *buf, size_t max)
{
	*buf = (struct buf){.max = max};
}
#endif

void buf_finish(struct buf *buf); /* frees the memory; buf_init may be called again */
#define auto_buf __attribute__((cleanup(buf_finish)))

/* Room for `extra` more bytes at data + len, or NULL (and over) if that exceeds max. */
char *buf_reserve(struct buf *buf, size_t extra);
void buf_append(struct buf *buf, const void *bytes, size_t len);
void buf_append_str(struct buf *buf, struct str text);
void buf_append_c(struct buf *buf, const char *text);
void buf_append_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Drops the first count bytes and moves the others to the front. */
void buf_consume(struct buf *buf, size_t count);
/* Drops everything after the first len bytes and clears over: undoes an append that did not fit completely. */
void buf_truncate(struct buf *buf, size_t len);
/* Empties the buf, keeps its memory and clears over. */
void buf_clear(struct buf *buf);
/* As buf_clear, but frees the memory if it is large. */
void buf_reuse(struct buf *buf);
/* Returns the bytes as an owned NUL-terminated string (never NULL) and empties the buf. */
char *buf_take(struct buf *buf);

inline struct str buf_str(const struct buf *buf)
{
	return str_n(buf->data ? buf->data : "", buf->len);
}

#endif
