/* upgrade_reader.h — reads the head of one HTTP request on a connected socket, for WebSocket servers.
 *
 * Reads at most LIMIT_UPGRADE_HEAD bytes within LIMIT_UPGRADE_MS, up to the empty line that ends the head; following
 * bytes stay in the socket. A body is never read and "100 Continue" never sent. A head that violates the grammar or a
 * limit is refused here (400, 408, 431, 505) and does not reach on_head. Owns: the descriptor, until it is accepted.
 * Borrows: the loop. Loop thread only. Source: RFC 9112. */
#ifndef NET_UPGRADE_READER_H
#define NET_UPGRADE_READER_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

struct http_head;
struct loop;
struct upgrade_reader;

struct upgrade_reader_events {
	/* Called with the complete head, which is borrowed during the call. The handler must call upgrade_reader_answer
	 * or upgrade_reader_accept once. */
	void (*on_head)(const struct http_head *head, void *self);
	/* Called last: the descriptor is closed. */
	void (*on_end)(void *self);
};

/* fd: a connected, non-blocking socket. The reader may be destroyed inside either event. */
struct upgrade_reader *upgrade_reader_create(struct loop *loop, int fd, const struct upgrade_reader_events *events,
                                             void *self);
/* Answers and ends the connection. Further input of the client is discarded, up to LIMIT_UPGRADE_DISCARD bytes and for
 * LIMIT_UPGRADE_LINGER_MS, so that a reset does not destroy the answer. headers: "Name: value"; content_type may be
 * NULL. */
void upgrade_reader_answer(struct upgrade_reader *reader, int status, const struct str *headers, size_t header_count,
                           const char *content_type, struct str body);
/* Answers 101 and returns the descriptor, which the caller then owns; the reader must be destroyed before the
 * descriptor is watched again. -1 if the client has disconnected. No event follows. */
must_check int upgrade_reader_accept(struct upgrade_reader *reader, const struct str *headers, size_t header_count);
void upgrade_reader_destroy(struct upgrade_reader *reader); /* closes the descriptor; NULL is a no-op */

#endif
