/* Almost every request is sent at once and as a whole, since the socket holds about twenty of the usual size. The
 * queue is for a supervisor that is stopped or slow, and for a request that is larger than the socket.
 *
 * The kernel counts descriptors in transit for the user who sends them, and refuses more than a process may open.
 * Therefore only a few requests are in transit at a time, and each report of a start allows the next one. Other
 * processes of the same user can use up that allowance, too: then the request fails, because nothing would report
 * that there is room again. */
#include "process/supervisor_requests.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/supervisor_priv.h"

struct request {
	struct list link;
	int fds[SUPERVISOR_FDS];
	size_t fd_count; /* descriptors still to be sent */
	uint32_t id;     /* id of a command whose request is pending; else 0 */
	size_t len, sent;
	char bytes[];
};

/* Sends a part of bytes. The descriptors travel with the first byte. */
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

/* ---- pending requests ---- */

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

/* fds: descriptors that were not sent yet. NULL and errno if they cannot be duplicated. */
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

/* Returns 0 if the request was sent as a whole, else errno. */
static int request_send(struct supervisor_requests *requests, struct request *request)
{
	while (request->sent < request->len) {
		struct str rest = str_n(request->bytes + request->sent, request->len - request->sent);
		ssize_t put = send_some(requests->socket, rest, request->fds, request->fd_count);
		if (put <= 0)
			return put < 0 ? errno : EPIPE;
		close_fds(request);
		requests->unanswered += request->id != 0;
		request->id = 0;
		request->sent += (size_t)put;
	}
	return 0;
}

static bool may_send(const struct supervisor_requests *requests, uint32_t id)
{
	return id == 0 || requests->unanswered < LIMIT_SUPERVISOR_REQUESTS;
}

static void on_room(uv_poll_t *poll, int status, int events);

/* Waits for space in the socket if the first pending request may be sent. */
static void update_poll(struct supervisor_requests *requests)
{
	struct request *first = list_first(&requests->pending, struct request, link);
	bool is_wanted = first && may_send(requests, first->id);
	if (is_wanted && !requests->is_polled)
		uv_poll_start(&requests->poll, UV_WRITABLE, on_room);
	if (!is_wanted && requests->is_polled)
		uv_poll_stop(&requests->poll);
	requests->is_polled = is_wanted;
}

/* True for EPIPE and similar errors: the supervisor has ended. They need no report here, because the end of its pipe
 * is reported for all commands. */
static bool has_ended(int sys)
{
	return sys == EPIPE || sys == ECONNRESET || sys == ENOTCONN;
}

static void on_room(uv_poll_t *poll, int status, int events)
{
	struct supervisor_requests *requests = container_of(poll, struct supervisor_requests, poll);
	struct request *request;
	int sys = 0;
	(void)status, (void)events;
	while (sys == 0 && (request = list_first(&requests->pending, struct request, link)) &&
	       may_send(requests, request->id)) {
		uint32_t id = request->id;
		sys = request_send(requests, request);
		if (has_ended(sys)) { /* supervisor_lost asks for the request */
			uv_poll_stop(poll);
			requests->is_polled = false;
			return;
		}
		if (sys != EAGAIN)
			request_destroy(requests, request);
		if (sys && sys != EAGAIN && id) {
			update_poll(requests);
			requests->on_refused(id, sys, requests->self); /* the callback may end the requests */
			return;
		}
	}
	update_poll(requests);
}

/* ---- requests ---- */

void supervisor_requests_init(struct supervisor_requests *requests, struct loop *loop, int socket,
                              supervisor_refused_fn on_refused, void *self)
{
	*requests = (struct supervisor_requests){.socket = socket, .on_refused = on_refused, .self = self};
	list_init(&requests->pending);
	uv_poll_init(loop_uv(loop), &requests->poll, socket);
	uv_unref((uv_handle_t *)&requests->poll);
}

void supervisor_requests_finish(struct supervisor_requests *requests, uv_close_cb on_closed)
{
	struct request *it;
	while ((it = list_first(&requests->pending, struct request, link)))
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
	list_append(&requests->pending, &(*ret)->link);
	return 0;
}

static int put_error(int sys, struct error *err)
{
	if (has_ended(sys))
		return error_sys(err, sys, "the process that supervises commands has ended; try again");
	if (sys == ETOOMANYREFS)
		return error_set(err, ERR_busy, SUPERVISOR_IN_TRANSIT);
	return error_sys(err, sys, "cannot send the request to the process that supervises commands");
}

int supervisor_requests_put(struct supervisor_requests *requests, struct str bytes, const int *fds, size_t fd_count,
                            uint32_t id, struct error *err)
{
	ssize_t put = -1;
	errno = EAGAIN;
	if (list_empty(&requests->pending) && may_send(requests, id))
		put = send_some(requests->socket, bytes, fds, fd_count);
	if (put < 0 && errno != EAGAIN)
		return put_error(errno, err);
	requests->unanswered += put > 0 && id;
	if (put == (ssize_t)bytes.len)
		return 0;
	struct request *request = NULL;
	int status = put_later(requests, bytes, fds, put > 0 ? 0 : fd_count, &request, err);
	if (!request)
		return status;
	request->sent = put > 0 ? (size_t)put : 0;
	request->id = put < 0 ? id : 0;
	update_poll(requests);
	return 0;
}

bool supervisor_requests_drop(struct supervisor_requests *requests, uint32_t id)
{
	struct request *it;
	list_for_each(it, &requests->pending, link) {
		if (it->id != id)
			continue;
		request_destroy(requests, it);
		update_poll(requests);
		return true;
	}
	return false;
}

void supervisor_requests_answered(struct supervisor_requests *requests)
{
	requests->unanswered--;
	update_poll(requests);
}
