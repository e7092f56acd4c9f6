/* A connection has two descriptors, because the transport closes both sides on its own. */
#include "attach/attach_link.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "transport/transport_connect.h"
#include "transport/transport_stdio.h"

#define ALIEN                                                                                                       \
	"this server does not speak the event protocol of `codex proto`. `codex --daemon` begins a session in the " \
	"app-server of this machine, and `codex attach` opens one that runs there"

struct attach_link {
	const struct attach_link_events *events;
	void *self;
	struct transport *transport;
	struct buf line;
	bool awaits_greeting, has_ended, has_event;
};

static void end(struct attach_link *link, const struct error *err)
{
	if (link->has_ended)
		return;
	link->has_ended = true;
	transport_pause(link->transport);
	link->events->on_end(err, link->self);
}

static void on_greeting(struct attach_link *link, struct str frame)
{
	auto_arena struct arena arena = {0};
	struct attach_greeting greeting;
	struct error err;
	link->awaits_greeting = false;
	if (attach_greeting_read(frame, &arena, &greeting, &err) == 0)
		link->events->on_greeting(&greeting, link->self);
	else
		end(link, &err);
}

static void on_frame(struct str frame, void *self)
{
	auto_arena struct arena arena = {0};
	struct attach_link *link = self;
	struct attach_answered answered;
	struct error err;
	if (link->awaits_greeting) {
		on_greeting(link, frame);
		return;
	}
	if (attach_answered_read(frame, &arena, &answered)) {
		link->events->on_answered(&answered, link->self);
		return;
	}
	struct event *event = event_decode(frame, &err);
	if (!event && err.code != ERR_unsupported && !link->has_event) /* an app-server, for example */
		error_set(&err, ERR_transport, ALIEN);
	link->has_event |= event != NULL;
	if (event && attach_request_id(event).ptr)
		link->events->on_event(event, attach_seq(frame), attach_from(frame, &arena), link->self);
	else if (event)
		link->events->on_event(event, 0, STR_NONE, link->self);
	else if (err.code != ERR_unsupported)
		end(link, &err);
	event_destroy(event);
}

static void on_long_frame(struct str head, void *self)
{
	(void)head, (void)self; /* an event that is larger than any that this program makes */
}

/* The transport calls its end stdout. */
static void on_transport_end(const struct error *err, void *self)
{
	struct error closed;
	if (err && err->code == ERR_transport) {
		error_set(&closed, ERR_transport, "the process of the session has closed it");
		err = &closed;
	}
	end(self, err);
}

struct attach_link *attach_link_open(struct loop *loop, const char *address, bool greets,
                                     const struct attach_link_events *events, void *self, struct error *err)
{
	static const struct transport_events transport_events = {on_frame, on_long_frame, on_transport_end, NULL};
	int fd = transport_connect(address, err), twin = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	if (fd < 0)
		return NULL;
	if (twin < 0) {
		error_sys(err, errno, "cannot have another descriptor");
		close(fd);
		return NULL;
	}
	struct attach_link *link = xnew(struct attach_link);
	link->events = events;
	link->self = self;
	link->awaits_greeting = greets;
	buf_init(&link->line, LIMIT_STREAM_QUEUE_HARD);
	link->transport = transport_stdio_create(loop, fd, twin, &transport_events, link, err);
	if (link->transport)
		return link;
	attach_link_destroy(link);
	return NULL;
}

void attach_link_submit(struct attach_link *link, struct str id, const struct op *op, uint64_t seq)
{
	struct json_writer w = json_writer(&link->line);
	jw_object(&w);
	jw_member_str(&w, "id", id);
	jw_key(&w, "op");
	union_encode(&union_op, op, &w);
	if (seq)
		jw_member_i64(&w, "seq", (int64_t)seq);
	jw_object_end(&w);
	buf_append_char(&link->line, '\n');
	transport_send(link->transport, buf_str(&link->line));
	buf_reuse(&link->line);
}

void attach_link_hold(struct attach_link *link, bool is_held)
{
	if (is_held)
		transport_pause(link->transport);
	else
		transport_resume(link->transport);
}

void attach_link_destroy(struct attach_link *link)
{
	if (!link)
		return;
	transport_destroy(link->transport, true);
	buf_finish(&link->line);
	free(link);
}
