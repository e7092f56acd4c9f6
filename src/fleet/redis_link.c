/* Connecting blocks (a name is looked up), so a worker does it. The login is sent before anything else, and on_up waits
 * for its replies. */
#include "fleet/redis_link.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "fleet/fleet_limits.h"
#include "fleet/redis_url.h"
#include "fleet/resp.h"
#include "loop/loop.h"
#include "loop/stream.h"
#include "net/tls_server.h"
#include "transport/transport_connect.h"

struct call {
	struct list link;
	unsigned replies; /* still expected */
	redis_reply_fn fn;
	void *self;
};

/* Connects on a worker; may outlive the link. */
struct dial {
	struct redis_link *link; /* NULL: destroyed */
	char *address;
	int fd;
	struct error err;
};

struct redis_link {
	struct loop *loop;
	const struct redis_url *url;
	struct tls_server *tls_client;
	const struct redis_link_events *events;
	void *self;
	struct dial *dial;     /* NULL: not connecting */
	struct stream *stream; /* NULL: not connected */
	struct tls *tls;
	struct buf in;
	struct list calls;
	struct loop_timer *retry, *reply;
	struct loop_deferred broken; /* handles `failure` outside of callbacks of the stream */
	struct error failure;
	uint64_t retry_ms;
	bool is_up, is_failing;
};

/* ---- the end of a connection ---- */

static void drop_calls(struct redis_link *link)
{
	struct list calls;
	struct call *call;
	list_init(&calls);
	while ((call = list_first(&link->calls, struct call, link))) {
		list_remove(&call->link);
		list_append(&calls, &call->link);
	}
	while ((call = list_first(&calls, struct call, link))) {
		list_remove(&call->link);
		if (call->fn)
			call->fn(NULL, call->self);
		free(call);
	}
}

static void close_stream(struct redis_link *link)
{
	stream_destroy(steal(link->stream), STREAM_NOW);
	tls_destroy(steal(link->tls));
	buf_finish(&link->in);
	buf_init(&link->in, (size_t)LIMIT_REDIS_REPLY + MIB);
	loop_timer_stop(link->reply);
	link->is_up = false;
}

static void on_broken(void *self)
{
	struct redis_link *link = self;
	struct error err = link->failure;
	link->is_failing = false;
	close_stream(link);
	drop_calls(link);
	loop_timer_start(link->retry, link->retry_ms);
	link->retry_ms = link->retry_ms * 2 > LIMIT_REDIS_RETRY_MS ? LIMIT_REDIS_RETRY_MS : link->retry_ms * 2;
	link->events->on_down(&err, link->self);
}

/* Only the first failure of a connection counts. */
void redis_link_fail(struct redis_link *link, enum error_code code, const char *what, struct str detail)
{
	if (link->is_failing)
		return;
	link->is_failing = true;
	link->is_up = false;
	error_set(&link->failure, code, "%s: %s%.*s", link->url->shown, what, STR_ARG(detail));
	loop_defer(&link->broken);
}

void redis_link_works(struct redis_link *link)
{
	link->retry_ms = LIMIT_REDIS_RETRY_FIRST_MS;
}

/* ---- replies ---- */

/* True for errors of the server, not of the command: another attempt finds another server, or the same one later. */
static bool is_server_error(const struct resp *reply)
{
	static const char *const prefixes[] = {"LOADING ",     "READONLY ", "MOVED ",   "MASTERDOWN ",
	                                       "CLUSTERDOWN ", "ASK ",      "NOSCRIPT "};
	for (size_t i = 0; reply->type == RESP_error && i < countof(prefixes); i++) {
		if (str_has_prefix(reply->text, prefixes[i]))
			return true;
	}
	return false;
}

/* Other errors pass: too many clients, a script that runs. */
static bool is_denied(struct str text)
{
	static const char *const prefixes[] = {
		"WRONGPASS",   "NOAUTH", "NOPERM", "ERR invalid password", "ERR AUTH", "ERR Client sent AUTH",
		"ERR DB index"};
	for (size_t i = 0; i < countof(prefixes); i++) {
		if (str_has_prefix(text, prefixes[i]))
			return true;
	}
	return false;
}

static void on_login(const struct resp *reply, void *self)
{
	struct redis_link *link = self;
	if (!reply || link->is_failing)
		return;
	if (reply->type == RESP_error)
		redis_link_fail(link, is_denied(reply->text) ? ERR_denied : ERR_connect,
		                "the login was refused: ", reply->text);
	else if (list_empty(&link->calls) || list_first(&link->calls, struct call, link)->fn != on_login) {
		link->is_up = true;
		link->events->on_up(link->self);
	}
}

static void take_reply(struct redis_link *link, const struct resp *reply)
{
	struct call *call = list_first(&link->calls, struct call, link);
	if (!call) {
		redis_link_fail(link, ERR_transport, "an unexpected reply", STR(""));
		return;
	}
	if (is_server_error(reply)) {
		redis_link_fail(link, ERR_connect, "", reply->text);
		return;
	}
	redis_reply_fn fn = call->fn;
	void *owner = call->self;
	bool is_last = --call->replies == 0;
	if (is_last) {
		list_remove(&call->link);
		free(call);
	}
	if (fn)
		fn(reply, owner);
}

static void read_replies(struct redis_link *link)
{
	struct str rest = buf_str(&link->in);
	while (rest.len && !link->is_failing) {
		auto_arena struct arena arena = {0};
		struct resp reply;
		enum resp_state state = resp_read(&rest, &arena, &reply);
		if (state == RESP_BAD)
			redis_link_fail(link, ERR_transport, "the server does not speak the protocol of Redis",
			                STR(""));
		if (state != RESP_DONE)
			break;
		take_reply(link, &reply);
	}
	buf_consume(&link->in, link->in.len - rest.len);
	if (!link->in.len)
		buf_reuse(&link->in);
	if (list_empty(&link->calls))
		loop_timer_stop(link->reply);
	else
		loop_timer_start(link->reply, LIMIT_REDIS_REPLY_MS);
}

static void log_in(struct redis_link *link);

static void on_tls_bytes(struct redis_link *link, struct str bytes)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	bool was_ready = tls_is_ready(link->tls);
	enum tls_state state = tls_receive(link->tls, bytes, &link->in, &out);
	if (out.len)
		stream_send(link->stream, buf_str(&out));
	if (state == TLS_BROKEN)
		redis_link_fail(link, ERR_transport,
		                "TLS failed: the certificate is not trusted, or the server does not speak TLS",
		                STR(""));
	else if (state == TLS_ENDED)
		redis_link_fail(link, ERR_transport, "the server has closed the connection", STR(""));
	else if (!was_ready && tls_is_ready(link->tls))
		log_in(link);
}

static void on_bytes(struct str bytes, void *self)
{
	struct redis_link *link = self;
	if (link->tls)
		on_tls_bytes(link, bytes);
	else
		buf_append_str(&link->in, bytes);
	if (link->in.over)
		redis_link_fail(link, ERR_transport, "a reply is too large", STR(""));
	if (!link->is_failing)
		read_replies(link);
}

static void on_end(const struct error *err, void *self)
{
	struct redis_link *link = self;
	redis_link_fail(link, ERR_transport, "the connection broke", err ? STR("") : STR(" (closed by the server)"));
}

static void on_late(void *self)
{
	redis_link_fail(self, ERR_timeout, "no reply for 10 seconds", STR(""));
}

/* ---- sending ---- */

static void transmit(struct redis_link *link, struct str commands)
{
	if (!link->tls) {
		stream_send(link->stream, commands);
		return;
	}
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	tls_send(link->tls, commands, &out);
	stream_send(link->stream, buf_str(&out));
}

static void expect(struct redis_link *link, unsigned replies, redis_reply_fn fn, void *self)
{
	struct call *call = xnew(struct call);
	*call = (struct call){.replies = replies, .fn = fn, .self = self};
	list_init(&call->link);
	if (list_empty(&link->calls))
		loop_timer_start(link->reply, LIMIT_REDIS_REPLY_MS);
	list_append(&link->calls, &call->link);
}

bool redis_link_send(struct redis_link *link, struct str commands, unsigned replies, redis_reply_fn fn, void *self)
{
	if (!link->is_up)
		return false;
	expect(link, replies, fn, self);
	transmit(link, commands);
	return true;
}

void redis_link_forget(struct redis_link *link, const void *self)
{
	struct call *call;
	if (!link)
		return;
	list_for_each(call, &link->calls, link) {
		if (call->self == self)
			call->fn = NULL;
	}
}

/* PING shows that the server is not loading its data. */
static void log_in(struct redis_link *link)
{
	auto_buf struct buf out;
	const struct redis_url *url = link->url;
	unsigned replies = 1 + (url->password != NULL) + (url->db != 0);
	buf_init(&out, 64 * KIB);
	if (url->password) {
		resp_begin(&out, url->user ? 3 : 2);
		resp_word(&out, STR("AUTH"));
		if (url->user)
			resp_word(&out, str_of(url->user));
		resp_word(&out, str_of(url->password));
	}
	if (url->db) {
		resp_begin(&out, 2);
		resp_word(&out, STR("SELECT"));
		resp_number(&out, url->db);
	}
	resp_begin(&out, 1);
	resp_word(&out, STR("PING"));
	for (unsigned i = 0; i < replies; i++)
		expect(link, 1, on_login, link);
	transmit(link, buf_str(&out));
	explicit_bzero(out.data, out.len);
}

/* ---- connecting ---- */

static void on_dial(void *self)
{
	struct dial *dial = self;
	dial->fd = transport_connect(dial->address, &dial->err);
}

static void begin(struct redis_link *link, int fd)
{
	static const struct stream_events events = {.on_bytes = on_bytes, .on_end = on_end};
	struct error err;
	link->stream = stream_open(link->loop, fd, &events, link, &err);
	if (!link->stream) {
		redis_link_fail(link, err.code, "", str_of(err.text));
		return;
	}
	if (!link->url->has_tls) {
		log_in(link);
		return;
	}
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	link->tls = tls_dial(link->tls_client, link->url->host, &out);
	stream_send(link->stream, buf_str(&out));
	loop_timer_start(link->reply, LIMIT_REDIS_REPLY_MS);
}

static void on_dialed(void *self)
{
	struct dial *dial = self;
	struct redis_link *link = dial->link;
	if (!link && dial->fd >= 0)
		close(dial->fd);
	if (link) {
		link->dial = NULL;
		if (dial->fd >= 0)
			begin(link, dial->fd);
		else
			redis_link_fail(link, ERR_connect, "", str_of(dial->err.text));
	}
	free(dial->address);
	free(dial);
}

static void connect_now(void *self)
{
	struct redis_link *link = self;
	const struct redis_url *url = link->url;
	struct dial *dial = xnew(struct dial);
	dial->link = link;
	dial->address =
		url->path ? xasprintf("unix://%s", url->path)
			  : xasprintf(strchr(url->host, ':') ? "tcp://[%s]:%s" : "tcp://%s:%s", url->host, url->port);
	link->dial = dial;
	worker_run(link->loop, on_dial, on_dialed, dial);
}

struct redis_link *redis_link_create(struct loop *loop, const struct redis_url *url, struct tls_server *tls,
                                     const struct redis_link_events *events, void *self)
{
	struct redis_link *link = xnew(struct redis_link);
	*link = (struct redis_link){.loop = loop,
	                            .url = url,
	                            .tls_client = tls,
	                            .events = events,
	                            .self = self,
	                            .retry_ms = LIMIT_REDIS_RETRY_FIRST_MS};
	buf_init(&link->in, (size_t)LIMIT_REDIS_REPLY + MIB);
	list_init(&link->calls);
	link->retry = loop_timer_create(loop, connect_now, link);
	link->reply = loop_timer_create(loop, on_late, link);
	loop_deferred_init(&link->broken, loop, on_broken, link);
	connect_now(link);
	return link;
}

void redis_link_destroy(struct redis_link *link)
{
	struct call *call;
	if (!link)
		return;
	if (link->dial)
		link->dial->link = NULL;
	list_for_each(call, &link->calls, link)
		free(call);
	stream_destroy(link->stream, STREAM_FLUSH);
	tls_destroy(link->tls);
	loop_timer_destroy(link->retry);
	loop_timer_destroy(link->reply);
	loop_deferred_finish(&link->broken);
	buf_finish(&link->in);
	free(link);
}
