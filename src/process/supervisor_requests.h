/* supervisor_requests.h — what is sent to the supervisor, and what waits to be sent. For process/supervisor.c only.
 *
 * Nothing here blocks: what the socket does not take waits, in order, with descriptors of its own, at most
 * LIMIT_SPAWN_QUEUE bytes. At most LIMIT_SUPERVISOR_REQUESTS commands are sent and not answered at a time.
 * Owns: the socket, what waits. Thread: the loop's. */
#ifndef PROCESS_SUPERVISOR_REQUESTS_H
#define PROCESS_SUPERVISOR_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "base/list.h"
#include "base/str.h"

struct error;
struct loop;

struct supervisor_requests {
	int socket; /* -1: closed */
	/* private */
	uv_poll_t poll; /* while something waits for room in the socket */
	struct list waiting;
	size_t bytes; /* that wait */
	size_t unanswered;
	bool is_polled;
};

/* Takes the socket. */
void supervisor_requests_init(struct supervisor_requests *requests, struct loop *loop, int socket);
/* on_closed runs later, with the handle `poll`: it is the last to use this memory. */
void supervisor_requests_finish(struct supervisor_requests *requests, uv_close_cb on_closed);

/* bytes and fds are copied if they must wait. is_command: it will be answered. ERR_io: nobody takes requests any more;
 * ERR_busy: too many bytes wait. */
int supervisor_requests_put(struct supervisor_requests *requests, struct str bytes, const int *fds, size_t fd_count,
                            bool is_command, struct error *err);
/* A command has been answered. */
void supervisor_requests_answered(struct supervisor_requests *requests);

#endif
