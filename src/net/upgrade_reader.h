/* upgrade_reader.h — one HTTP request on a connected socket: its head and nothing else, for servers of WebSockets.
 *
 * Reads at most LIMIT_UPGRADE_HEAD bytes within LIMIT_UPGRADE_MS, up to the empty line that ends the head and no
 * further: what follows stays in the socket. A body is never kept and "100 Continue" never sent. A head that breaks the
 * grammar or a limit is refused here (400, 408, 431, 505) and does not reach on_head.
 * Owns: the descriptor, until it is accepted. Borrows: the loop. Loop thread only. Source: RFC 9112. */
#ifndef NET_UPGRADE_READER_H
#define NET_UPGRADE_READER_H

#include <stddef.h>

#include "base/str.h"

struct http_head;
struct loop;
struct upgrade_reader;

struct upgrade_reader_events {
	/* The head is complete, and borrowed until this returns. Call upgrade_reader_answer or upgrade_reader_accept in
	 * it, once. */
	void (*on_head)(const struct http_head *head, void *self);
	/* The last call: the descriptor is closed. */
	void (*on_end)(void *self);
};

/* fd: a connected socket that does not block. The reader may be destroyed in either event. */
struct upgrade_reader *upgrade_reader_create(struct loop *loop, int fd, const struct upgrade_reader_events *events,
                                             void *self);
/* Answers and ends the connection. What the client still sends is discarded, up to LIMIT_UPGRADE_DISCARD bytes and for
 * LIMIT_UPGRADE_LINGER_MS, so that the answer is not lost. headers: "Name: value"; content_type may be NULL. */
void upgrade_reader_answer(struct upgrade_reader *reader, int status, const struct str *headers, size_t header_count,
                           const char *content_type, struct str body);
/* Answers 101. Returns the descriptor, the caller's; destroy the reader before the descriptor is watched again. -1 if
 * the client has gone. Neither event follows. */
int upgrade_reader_accept(struct upgrade_reader *reader, const struct str *headers, size_t header_count);
void upgrade_reader_destroy(struct upgrade_reader *reader); /* closes the descriptor, at once; NULL is fine */

#endif
