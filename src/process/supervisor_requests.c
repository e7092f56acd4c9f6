/* Almost every request goes out at once and whole: the socket holds some twenty of the usual size. The rest is for a
 * supervisor that is stopped or slow, and for a request that is larger than the socket.
 *
 * The kernel counts descriptors on their way as the user's, and refuses more than a process may have open. So few
 * requests are on their way at a time; each report of a start lets the next one go. */
#include "process/supervisor_requests.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/supervisor_priv.h"

struct request {
	struct list link;
	int fds[SUPERVISOR_FDS];
	size_t fd_count; /* not sent yet */
	bool is_command; /* not sent yet, and will be answered */
	size_t len, sent;
	char bytes[];
};

/* The descriptors travel with the first byte. */
static ssize_t send_some(int socket, struct str bytes, const int *fds, size_t count)
{
	union supervisor_control control = {{0}};
	size_t size = count * sizeof(int);
	struct iovec part = {(void *)bytes.ptr, bytes.len};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (count) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(size);
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(head), fds, size);
	}
	ssize_t put;
	do {
		put = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (put < 0 && errno == EINTR);
	return put;
}

/* ---- what waits ---- */

static void close_fds(struct request *request)
{
	for (size_t i = 0; i < request->fd_count; i++)
		close(request->fds[i]);
	request->fd_count = 0;
}

static void request_destroy(struct supervisor_requests *requests, struct request *request)
{
	requests->bytes -= request->len;
	list_remove(&request->link);
	close_fds(request);
	free(request);
}

/* fds: those that are not sent yet. */
static struct request *request_create(struct str bytes, const int *fds, size_t count)
{
	struct request *request = xmalloc(sizeof(*request) + bytes.len);
	*request = (struct request){.len = bytes.len};
	memcpy(request->bytes, bytes.ptr, bytes.len);
	for (size_t i = 0; i < count; i++) {
		request->fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
		if (request->fds[i] < 0) {
			close_fds(request);
			free(request);
			return NULL;
		}
		request->fd_count++;
	}
	return request;
}

/* False if the socket takes no more for now, or never will. */
static bool request_send(struct supervisor_requests *requests, struct request *request)
{
	while (request->sent < request->len) {
		struct str rest = str_n(request->bytes + request->sent, request->len - request->sent);
		ssize_t put = send_some(requests->socket, rest, request->fds, request->fd_count);
		if (put <= 0)
			return false;
		close_fds(request);
		requests->unanswered += request->is_command;
		request->is_command = false;
		request->sent += (size_t)put;
	}
	return true;
}

static bool may_send(const struct supervisor_requests *requests, bool is_command)
{
	return !is_command || requests->unanswered < LIMIT_SUPERVISOR_REQUESTS;
}

static void on_room(uv_poll_t *poll, int status, int events);

/* What fails for good is dropped: the supervisor is gone, and the end of its pipe says so to whoever waits. */
static void flush(struct supervisor_requests *requests)
{
	struct request *request;
	bool is_full = false;
	while (!is_full && (request = list_first(&requests->waiting, struct request, link)) &&
	       may_send(requests, request->is_command)) {
		is_full = !request_send(requests, request) && errno == EAGAIN;
		if (!is_full)
			request_destroy(requests, request);
	}
	if (is_full && !requests->is_polled)
		uv_poll_start(&requests->poll, UV_WRITABLE, on_room);
	if (!is_full && requests->is_polled)
		uv_poll_stop(&requests->poll);
	requests->is_polled = is_full;
}

static void on_room(uv_poll_t *poll, int status, int events)
{
	(void)status, (void)events;
	flush(container_of(poll, struct supervisor_requests, poll));
}

/* ---- requests ---- */

void supervisor_requests_init(struct supervisor_requests *requests, struct loop *loop, int socket)
{
	*requests = (struct supervisor_requests){.socket = socket};
	list_init(&requests->waiting);
	uv_poll_init(loop_uv(loop), &requests->poll, socket);
	uv_unref((uv_handle_t *)&requests->poll);
}

void supervisor_requests_finish(struct supervisor_requests *requests, uv_close_cb on_closed)
{
	struct request *it;
	while ((it = list_first(&requests->waiting, struct request, link)))
		request_destroy(requests, it);
	uv_close((uv_handle_t *)&requests->poll, on_closed);
	mem_close_slot(&requests->socket);
	requests->socket = -1;
}

static int put_later(struct supervisor_requests *requests, struct str bytes, const int *fds, size_t fd_count,
                     struct request **ret, struct error *err)
{
	if (bytes.len > LIMIT_SPAWN_QUEUE - requests->bytes)
		return error_set(err, ERR_busy, "too many commands wait to be started; wait for one of them");
	*ret = request_create(bytes, fds, fd_count);
	if (!*ret)
		return error_sys(err, errno, "cannot hold its descriptors");
	requests->bytes += bytes.len;
	list_init(&(*ret)->link);
	list_append(&requests->waiting, &(*ret)->link);
	return 0;
}

int supervisor_requests_put(struct supervisor_requests *requests, struct str bytes, const int *fds, size_t fd_count,
                            bool is_command, struct error *err)
{
	ssize_t put = -1;
	bool is_free = list_empty(&requests->waiting) && may_send(requests, is_command);
	errno = EAGAIN;
	if (is_free)
		put = send_some(requests->socket, bytes, fds, fd_count);
	if (put < 0 && errno != EAGAIN)
		return error_sys(err, errno, "the process that watches over commands was ended; try again");
	requests->unanswered += put > 0 && is_command;
	if (put == (ssize_t)bytes.len)
		return 0;
	struct request *request = NULL;
	int status = put_later(requests, bytes, fds, put > 0 ? 0 : fd_count, &request, err);
	if (!request)
		return status;
	request->sent = put > 0 ? (size_t)put : 0;
	request->is_command = put < 0 && is_command;
	flush(requests);
	return 0;
}

void supervisor_requests_answered(struct supervisor_requests *requests)
{
	requests->unanswered--;
	flush(requests);
}
