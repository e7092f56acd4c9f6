/* A callback may close the link, so each is the last thing that its caller does. */
#include "remote/exec_link.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "net/websocket_client.h"
#include "remote/environment.h"

enum {                     /* codes of refusals */
       NOT_FOUND = -32004, /* there is no such file */
       BUSY = -32010,      /* the server has not noticed yet that the session's connection was lost */
};

struct asked {
	int64_t id;
	const char *method;
};

struct exec_link {
	struct environment *environment;
	const struct exec_link_handler *handler;
	void *self;
	struct websocket_client *socket;
	struct loop_timer *timer; /* runs while a request is unanswered and the link is not paused, and between attempts
	                           * to connect again */
	struct str session;       /* its name at the server; STR_NONE before the answer to `initialize` */
	uint64_t lost_ns;         /* when the connection was lost; 0: it is not being resumed */
	uint64_t wait_ms;         /* before the next attempt */
	bool is_kept;
	VEC(struct asked) unanswered;
	int64_t last_id;
	int stray;     /* messages that nothing waited for */
	bool is_ready; /* the server has answered `initialize` */
	bool is_paused;
	bool has_file;
	size_t stray_bytes;
};

/* ---- requests ---- */

static void watch(struct exec_link *link)
{
	if (!link->socket) /* the timer is that of the next attempt */
		return;
	if (link->unanswered.count && !(link->is_paused && link->is_ready))
		loop_timer_start(link->timer, LIMIT_ENVIRONMENT_ANSWER_MS);
	else
		loop_timer_stop(link->timer);
}

int64_t exec_link_request(struct exec_link *link, const char *method, struct str params)
{
	auto_buf struct buf head;
	buf_init(&head, LIMIT_LINE);
	struct asked asked = {++link->last_id, method};
	buf_printf(&head, "{\"id\":%lld,\"method\":\"%s\",\"params\":", (long long)asked.id, method);
	const struct str parts[] = {buf_str(&head), params, STR("}")};
	vec_push(&link->unanswered, asked);
	watch(link);
	websocket_client_send(link->socket, parts, countof(parts));
	return asked.id;
}

static bool take_asked(struct exec_link *link, int64_t id)
{
	for (size_t i = 0; i < link->unanswered.count; i++) {
		if (link->unanswered.items[i].id != id)
			continue;
		link->unanswered.items[i] = link->unanswered.items[--link->unanswered.count];
		watch(link);
		return true;
	}
	return false;
}

/* ---- the end ---- */

static void fail(struct exec_link *link, const struct error *cause)
{
	struct error err = *cause;
	loop_timer_stop(link->timer);
	if (link->lost_ns)
		error_wrap(&err, "the connection to the exec-server `%.*s` was lost: its session cannot be resumed",
		           STR_ARG(link->environment->name));
	else if (link->is_ready)
		error_wrap(&err, "the connection to the exec-server `%.*s` was lost", STR_ARG(link->environment->name));
	else
		error_wrap(&err,
		           "exec-server connection attempt failed: failed to connect to exec-server websocket `%.*s`",
		           STR_ARG(link->environment->name));
	if (link->lost_ns)
		environment_lose(link->environment);
	link->lost_ns = 0;
	link->handler->on_end(&err, link->self);
}

/* Starts the next attempt to resume the session, later. False: the link is not kept, or the time is over. */
static bool retry(struct exec_link *link)
{
	uint64_t now = clock_now_ns();
	if (!link->is_kept)
		return false;
	if (!link->lost_ns) {
		link->lost_ns = now;
		link->environment->resuming++;
	}
	if (now - link->lost_ns > LIMIT_ENVIRONMENT_RESUME_MS * UINT64_C(1000000))
		return false;
	websocket_client_close(steal(link->socket));
	link->is_ready = false;
	link->unanswered.count = 0;
	loop_timer_start(link->timer, link->wait_ms);
	link->wait_ms = link->wait_ms * 2 + LIMIT_ENVIRONMENT_PAUSE_MS;
	if (link->wait_ms > LIMIT_ENVIRONMENT_RETRY_MS)
		link->wait_ms = LIMIT_ENVIRONMENT_RETRY_MS;
	return true;
}

static void on_end(int status, const struct error *err, void *self)
{
	struct error closed;
	(void)status; /* err names it */
	error_set(&closed, ERR_transport, "the server closed it");
	if (!retry(self))
		fail(self, err ? err : &closed);
}

static void give_up(struct exec_link *link, const struct error *err)
{
	websocket_client_close(steal(link->socket));
	fail(link, err);
}

static void open_socket(struct exec_link *link);

static void on_timeout(void *self)
{
	struct exec_link *link = self;
	struct error err;
	if (!link->socket) {
		open_socket(link);
		return;
	}
	error_set(&err, ERR_timeout, "no answer to `%s` within %d s", link->unanswered.items[0].method,
	          LIMIT_ENVIRONMENT_ANSWER_MS / 1000);
	if (!link->lost_ns || !retry(link))
		give_up(link, &err);
}

/* ---- messages ---- */

static void on_open(const struct http_head *head, void *self)
{
	struct exec_link *link = self;
	auto_buf struct buf params;
	buf_init(&params, 8 * LIMIT_ENVIRONMENT_TEXT);
	struct json_writer w = json_writer(&params);
	(void)head;
	jw_object(&w);
	jw_member_cstr(&w, "clientName", "codex");
	jw_key(&w, "resumeSessionId");
	if (link->session.ptr)
		jw_str(&w, link->session);
	else
		jw_null(&w);
	jw_object_end(&w);
	exec_link_request(link, "initialize", buf_str(&params));
}

/* An answer proves that the resumed session works; before that, another loss counts as a failed attempt. */
static void prove(struct exec_link *link)
{
	if (!link->lost_ns)
		return;
	environment_reach(link->environment, true);
	link->lost_ns = 0;
	link->wait_ms = LIMIT_ENVIRONMENT_PAUSE_MS;
}

static void become_ready(struct exec_link *link, const struct json *result)
{
	static const struct str initialized = STR("{\"method\":\"initialized\",\"params\":{}}");
	struct str shell, session = json_get_str(result, "sessionId");
	if (!link->session.ptr && session.ptr && session.len <= LIMIT_ENVIRONMENT_TEXT)
		link->session = str_copy(session);
	if (json_to_str(json_path(result, "environmentInfo.shell.path"), &shell))
		environment_set_shell(link->environment, shell);
	websocket_client_send(link->socket, &initialized, 1);
	link->is_ready = true;
	if (link->is_paused)
		websocket_client_pause(link->socket);
	if (!link->lost_ns)
		environment_reach(link->environment, false);
	link->handler->on_ready(link->self);
}

static void ignore(struct exec_link *link, size_t len)
{
	struct error err;
	link->stray_bytes += len;
	if (++link->stray <= LIMIT_ENVIRONMENT_STRAY && link->stray_bytes <= LIMIT_WEBSOCKET_MESSAGE)
		return;
	error_set(&err, ERR_limit, "the server sent more than %d messages, or %d MiB, that nothing waits for",
	          LIMIT_ENVIRONMENT_STRAY, LIMIT_WEBSOCKET_MESSAGE / MIB);
	give_up(link, &err);
}

static void take_answer(struct exec_link *link, const struct json *message, size_t len)
{
	struct error err;
	int64_t id = json_get_i64(message, "id", 0);
	const struct json *result = json_get(message, "result"), *refusal = json_get(message, "error");
	if (!take_asked(link, id)) {
		ignore(link, len);
		return;
	}
	if (!result || refusal) {
		struct str text = json_get_str(refusal, "message");
		result = NULL;
		int64_t code = json_get_i64(refusal, "code", 0);
		error_set(&err,
		          code == NOT_FOUND ? ERR_not_found
		          : code == BUSY    ? ERR_busy
		                            : ERR_io,
		          "%.*s", STR_ARG(text.len ? text : STR("the server gave no reason")));
	}
	if (link->is_ready) {
		prove(link);
		link->handler->on_answer(id, result, result ? NULL : &err, link->self);
	} else if (result) {
		become_ready(link, result);
	} else if (err.code != ERR_busy || !retry(link)) {
		fail(link, &err);
	}
}

static void on_message(struct str text, void *self)
{
	struct exec_link *link = self;
	struct error err;
	auto_arena struct arena arena = {0};
	if (text.len > LIMIT_ENVIRONMENT_MESSAGE && !link->has_file) {
		error_set(&err, ERR_limit, "the server sent a message of more than %d KiB",
		          LIMIT_ENVIRONMENT_MESSAGE / KIB);
		give_up(link, &err);
		return;
	}
	const struct json *message = json_parse(&arena, text, &err);
	struct str method = json_get_str(message, "method");
	if (!message) {
		error_wrap(&err, "the server sent invalid JSON");
		give_up(link, &err);
	} else if (!method.ptr) {
		take_answer(link, message, text.len);
	} else if (!link->is_ready || !link->handler->on_notify(method, json_get(message, "params"), link->self)) {
		ignore(link, text.len);
	}
}

static void on_bytes(void *self)
{
	(void)self;
}

/* ---- its life ---- */

static void open_socket(struct exec_link *link)
{
	static const struct websocket_client_handler socket_handler = {on_open, on_bytes, on_message, on_end};
	struct environment *environment = link->environment;
	struct websocket_client_request request = {
		.url = environment->url,
		.headers = environment->headers,
		.header_count = environment->header_count,
		.timeout_ms = environment->connect_timeout_ms,
	};
	link->socket = websocket_client_open(environment->loop, environment->http, &request, &socket_handler, link);
}

struct exec_link *exec_link_open(struct environment *environment, const struct exec_link_handler *handler, void *self)
{
	struct exec_link *link = xnew(struct exec_link);
	link->environment = environment_ref(environment);
	link->handler = handler;
	link->self = self;
	link->timer = loop_timer_create(environment->loop, on_timeout, link);
	open_socket(link);
	return link;
}

void exec_link_keep(struct exec_link *link)
{
	link->is_kept = link->session.ptr;
}

bool exec_link_is_ready(const struct exec_link *link)
{
	return link->is_ready;
}

void exec_link_allow_file(struct exec_link *link, bool is_allowed)
{
	link->has_file = is_allowed;
}

void exec_link_pause(struct exec_link *link)
{
	link->is_paused = true;
	watch(link);
	if (link->is_ready)
		websocket_client_pause(link->socket);
}

void exec_link_resume(struct exec_link *link)
{
	link->is_paused = false;
	watch(link);
	if (link->is_ready)
		websocket_client_resume(link->socket);
}

void exec_link_close(struct exec_link *link)
{
	if (!link)
		return;
	if (link->lost_ns)
		link->environment->resuming--;
	websocket_client_close(link->socket);
	loop_timer_destroy(link->timer);
	str_free(&link->session);
	vec_finish(&link->unanswered);
	environment_unref(link->environment);
	free(link);
}

/* ---- one question ---- */

struct exec_question {
	struct exec_link *link;
	const char *method;
	exec_question_fn on_done;
	void *self;
};

static void question_ready(void *self)
{
	struct exec_question *question = self;
	exec_link_request(question->link, question->method, STR("null"));
}

static void question_answered(int64_t id, const struct json *result, const struct error *err, void *self)
{
	struct exec_question *question = self;
	(void)id; /* there is only one request */
	question->on_done(result, err, question->self);
}

static bool question_notified(struct str method, const struct json *params, void *self)
{
	(void)method;
	(void)params;
	(void)self;
	return false;
}

static void question_ended(const struct error *err, void *self)
{
	struct exec_question *question = self;
	question->on_done(NULL, err, question->self);
}

struct exec_question *exec_question_start(struct environment *environment, const char *method, exec_question_fn on_done,
                                          void *self)
{
	static const struct exec_link_handler handler = {question_ready, question_answered, question_notified,
	                                                 question_ended};
	struct exec_question *question = xnew(struct exec_question);
	question->method = method;
	question->on_done = on_done;
	question->self = self;
	question->link = exec_link_open(environment, &handler, question);
	return question;
}

void exec_question_cancel(struct exec_question *question)
{
	if (!question)
		return;
	exec_link_close(question->link);
	free(question);
}
