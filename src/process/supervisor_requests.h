/* supervisor_requests.h — the requests to the supervisor, sent and pending. For process/supervisor.c only.
 *
 * Nothing here blocks: a request that the socket does not accept is kept, in order and with duplicates of its
 * descriptors, up to LIMIT_SPAWN_QUEUE bytes in all. At most LIMIT_SUPERVISOR_REQUESTS commands may be sent and
 * unanswered.
 *
 * Owns: the socket and the pending requests. Thread: the loop's. */
#ifndef PROCESS_SUPERVISOR_REQUESTS_H
#define PROCESS_SUPERVISOR_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/error.h"
#include "base/list.h"
#include "base/str.h"

struct loop;

/* Called when a pending command could not be sent; sys is errno. Runs on the loop, not inside
 * supervisor_requests_put. */
typedef void (*supervisor_refused_fn)(uint32_t id, int sys, void *self);

struct supervisor_requests {
	int socket; /* -1 if closed */
	/* private */
	uv_poll_t poll; /* active while a request waits for room in the socket */
	struct list pending;
	size_t bytes; /* total size of the pending requests */
	size_t unanswered;
	bool is_polled;
	supervisor_refused_fn on_refused;
	void *self;
};

/* Takes ownership of the socket. */
void supervisor_requests_init(struct supervisor_requests *requests, struct loop *loop, int socket,
                              supervisor_refused_fn on_refused, void *self);
/* on_closed runs when libuv has closed the handle `poll`; only then this memory may be freed. */
void supervisor_requests_finish(struct supervisor_requests *requests, uv_close_cb on_closed);

/* Sends a request, or copies bytes and fds and sends it later. id: the command that the supervisor will answer; 0
 * for a request without an answer. ERR_io: the supervisor has ended. ERR_busy: too much is pending, or the system
 * transfers no further descriptors of this user. */
must_check int supervisor_requests_put(struct supervisor_requests *requests, struct str bytes, const int *fds,
                                       size_t fd_count, uint32_t id, struct error *err);
/* Discards the request of this command. False if a part of it was sent; the supervisor will then answer it. */
bool supervisor_requests_drop(struct supervisor_requests *requests, uint32_t id);
/* To be called when the supervisor has answered a command. */
void supervisor_requests_answered(struct supervisor_requests *requests);

#endif
