/* The server is three small parts in a row: http_server brings a request, the script picks the reply for it, a play
 * makes the reply's bytes. What lives here is only what joins them: one exchange per answer that is on its way, which
 * goes on when its client has room, when its pause is over or when its gate opens. */
#include "server/mock/mock_model.h"

#include <inttypes.h>
#include <uv.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/http_head.h"
#include "net/http_server.h"
#include "server/mock/mock_play.h"
#include "server/mock/mock_record.h"
#include "server/mock/mock_script.h"

struct mock_model {
	struct loop *loop;
	struct http_server *server;
	struct mock_script script;
	struct mock_record *record;
	struct list exchanges;
	VEC(char *) gates; /* the open ones */
	uint64_t requests;
	uint64_t failures;
	uint64_t start_ms;
	mock_model_note_fn on_note;
	void *self;
};

/* What an exchange goes on for. A hung one goes on for nothing. */
enum exchange_state { SENDING, PAUSED, AT_GATE, HUNG };

struct mock_exchange {
	struct list link;
	struct mock_model *mock;
	struct http_exchange *http;
	const struct mock_reply *reply;
	struct mock_play play;
	struct buf out;
	struct loop_timer *timer; /* made by the first pause */
	enum exchange_state state;
	bool is_head_sent;
};

static void __attribute__((format(printf, 2, 3))) note(struct mock_model *mock, const char *format, ...)
{
	va_list args;
	auto_buf struct buf text;
	buf_init(&text, 4 * ERROR_TEXT_MAX);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	if (mock->on_note)
		mock->on_note(text.data ? text.data : "", mock->self);
}

/* --- an answer on its way ---------------------------------------------------------------------------------- */

static void exchange_destroy(struct mock_exchange *exchange)
{
	list_remove(&exchange->link);
	loop_timer_destroy(exchange->timer);
	mock_play_finish(&exchange->play);
	buf_finish(&exchange->out);
	free(exchange);
}

static void exchange_end(struct mock_exchange *exchange)
{
	http_reply_end(exchange->http);
	exchange_destroy(exchange);
}

static void exchange_abort(struct mock_exchange *exchange, enum http_abort how)
{
	http_exchange_abort(exchange->http, how);
	exchange_destroy(exchange);
}

struct header_lines {
	struct arena arena;
	VEC(struct str) lines;
	bool has_type;
};

static void add_headers(struct header_lines *list, const struct json *headers)
{
	json_for_each (header, headers) {
		const char *line =
		        arena_printf(&list->arena, "%.*s: %.*s", STR_ARG(header->key), STR_ARG(header->text));
		list->has_type |= str_equal_fold(header->key, STR("content-type"));
		vec_push(&list->lines, str_of(line));
	}
}

/* A status with a body is a whole document; all else is a stream, even if the script sends nonsense in it. */
static const char *default_type(const struct mock_step *status)
{
	if (!status || status->texts.count == 0)
		return "Content-Type: text/event-stream";
	return status->texts.items->is_json ? "Content-Type: application/json" : "Content-Type: text/plain";
}

static void send_head(struct mock_exchange *exchange)
{
	const struct mock_step *status = exchange->play.status;
	bool is_whole = status && status->texts.count > 0;
	struct header_lines list = {0};
	if (exchange->is_head_sent || exchange->reply->is_wire)
		return;
	add_headers(&list, exchange->reply->headers);
	add_headers(&list, status ? status->json : NULL);
	if (!list.has_type)
		vec_push(&list.lines, str_of(default_type(status)));
	http_reply_head(exchange->http, status ? (int)status->count : 200, list.lines.items, list.lines.count,
	                is_whole ? (int64_t)exchange->out.len : HTTP_CHUNKED);
	exchange->is_head_sent = true;
	vec_finish(&list.lines);
	arena_finish(&list.arena);
}

/* Sends what the play has made. False when the client is behind. */
static bool send_bytes(struct mock_exchange *exchange)
{
	bool has_room = true;
	if (exchange->out.len == 0)
		return true;
	send_head(exchange);
	if (exchange->reply->is_wire)
		has_room = http_reply_raw(exchange->http, buf_str(&exchange->out));
	else
		has_room = http_reply_data(exchange->http, buf_str(&exchange->out));
	if (exchange->out.len > 4 * LIMIT_MOCK_BATCH)
		buf_finish(&exchange->out);
	else
		buf_clear(&exchange->out);
	return has_room;
}

static void on_timer(void *self);

static void pause_for(struct mock_exchange *exchange, uint64_t delay_ms)
{
	if (!exchange->timer)
		exchange->timer = loop_timer_create(exchange->mock->loop, on_timer, exchange);
	loop_timer_start(exchange->timer, delay_ms);
	exchange->state = PAUSED;
}

static bool is_gate_open(const struct mock_model *mock, struct str name)
{
	vec_for_each (gate, &mock->gates)
		if (str_is(name, *gate))
			return true;
	return false;
}

static void end_at_limit(struct mock_exchange *exchange)
{
	exchange->mock->failures++;
	note(exchange->mock, "script line %u: a text grew past %d bytes, so the connection was closed",
	     exchange->reply->line, LIMIT_MOCK_TEXT);
	exchange_abort(exchange, HTTP_ABORT_CLOSE);
}

/* The ways to leave the loop below; the exchange may be gone afterwards. */
static void exchange_act(struct mock_exchange *exchange, enum mock_act act)
{
	if (act == MOCK_ACT_WAIT)
		pause_for(exchange, exchange->play.wait_ms);
	else if (act == MOCK_ACT_DROP || act == MOCK_ACT_RESET)
		exchange_abort(exchange, act == MOCK_ACT_RESET ? HTTP_ABORT_RESET : HTTP_ABORT_CLOSE);
	else if (act == MOCK_ACT_LIMIT)
		end_at_limit(exchange);
	else if (act == MOCK_ACT_GATE || act == MOCK_ACT_HANG)
		exchange->state = act == MOCK_ACT_GATE ? AT_GATE : HUNG;
	else if (act == MOCK_ACT_END) {
		send_head(exchange);
		exchange_end(exchange);
	}
}

/* Goes on until the client is behind or the play wants something else than room. */
static void exchange_pump(struct mock_exchange *exchange)
{
	bool has_room = true;
	exchange->state = SENDING;
	while (has_room) {
		enum mock_act act = mock_play_next(&exchange->play, &exchange->out);
		has_room = send_bytes(exchange);
		if (act == MOCK_ACT_HEAD)
			send_head(exchange);
		bool is_open = act == MOCK_ACT_GATE && is_gate_open(exchange->mock, exchange->play.gate);
		if (act == MOCK_ACT_MORE || act == MOCK_ACT_HEAD || is_open)
			continue;
		exchange_act(exchange, act);
		return;
	}
}

static void on_timer(void *self)
{
	exchange_pump(self);
}

static void on_writable(void *self)
{
	struct mock_exchange *exchange = self;
	if (exchange->state == SENDING)
		exchange_pump(exchange);
}

static void on_gone(void *self)
{
	exchange_end(self);
}

static const struct http_exchange_events exchange_events = {.on_writable = on_writable, .on_gone = on_gone};

/* --- requests ---------------------------------------------------------------------------------------------- */

/* Says what is wrong to the client, in the form of an API error, and to the script's author. */
static void refuse(struct mock_model *mock, struct http_exchange *http, int status, const struct error *err)
{
	auto_buf struct buf body;
	buf_init(&body, 8 * ERROR_TEXT_MAX);
	struct json_writer w = json_writer(&body);
	mock->failures++;
	note(mock, "request %" PRIu64 ": %s", mock->requests, err->text);
	jw_object(&w);
	jw_key(&w, "error");
	jw_object(&w);
	jw_key(&w, "message");
	jw_strf(&w, "mock-model: request %" PRIu64 ": %s", mock->requests, err->text);
	jw_member_cstr(&w, "type", "invalid_request_error");
	jw_member_cstr(&w, "code", "script_mismatch");
	jw_object_end(&w);
	jw_object_end(&w);
	http_reply(http, status, "application/json", buf_str(&body));
}

static int start_play(struct mock_model *mock, struct mock_exchange *exchange, const struct mock_request *request,
                      struct error *err)
{
	const struct mock_reply *reply = exchange->reply;
	int rc = mock_play_init(&exchange->play, reply, request, mock->requests, err);
	return mock_match_check(&reply->expect, request, err) ? rc : -ERR_invalid;
}

static void answer(struct mock_model *mock, struct http_exchange *http, const struct mock_reply *reply,
                   const struct mock_request *request)
{
	struct error err = {0};
	struct mock_exchange *exchange = xnew(struct mock_exchange);
	*exchange = (struct mock_exchange){.mock = mock, .http = http, .reply = reply};
	buf_init(&exchange->out, LIMIT_MOCK_EVENT);
	list_append(&mock->exchanges, &exchange->link);
	if (start_play(mock, exchange, request, &err) < 0) {
		error_wrap(&err, "does not fit script line %u", reply->line);
		refuse(mock, http, 400, &err);
		exchange_destroy(exchange);
		return;
	}
	http_exchange_watch(http, &exchange_events, exchange);
	exchange_pump(exchange);
}

static void record(struct mock_model *mock, uint64_t number, const struct mock_request *request)
{
	struct error err = {0};
	if (!mock->record)
		return;
	if (mock_record_write(mock->record, number, request, clock_now_ms() - mock->start_ms, &err) < 0)
		note(mock, "the record is not complete: %s", err.text);
}

static void on_responses(struct mock_model *mock, struct http_exchange *http, struct mock_request *request,
                         const struct error *json_err)
{
	struct error err = {0};
	record(mock, ++mock->requests, request);
	if (!request->json) {
		error_set(&err, ERR_invalid, "the body is not JSON: %s", json_err->text);
		refuse(mock, http, 400, &err);
		return;
	}
	const struct mock_reply *reply = mock_script_take(&mock->script, request);
	if (!reply) {
		error_set(&err, ERR_limit, "script exhausted: none of its %zu replies is left", mock->script.count);
		refuse(mock, http, 500, &err);
		return;
	}
	answer(mock, http, reply, request);
}

void mock_model_open_gate(struct mock_model *mock, struct str name)
{
	struct mock_exchange *exchange;
	if (!is_gate_open(mock, name) && mock->gates.count < LIMIT_MOCK_GATES)
		vec_push(&mock->gates, str_dup(name));
	list_for_each (exchange, &mock->exchanges, link) {
		if (exchange->state == AT_GATE && str_eq(exchange->play.gate, name))
			exchange_pump(exchange);
	}
}

/* The name behind the last "/gate/" of a path; false if there is none. */
static bool gate_name(struct str path, struct str *ret)
{
	ptrdiff_t slash = str_rfind_char(path, '/');
	if (slash < 0 || !str_has_suffix(str_n(path.ptr, (size_t)slash), "/gate"))
		return false;
	*ret = str_skip(path, (size_t)slash + 1);
	return true;
}

static void on_request(struct http_exchange *http, const struct http_head *head, struct str body, void *self)
{
	struct mock_model *mock = self;
	auto_arena struct arena arena = {0};
	struct error err = {0};
	struct mock_request request = {.head = head, .body = body, .json = json_parse(&arena, body, &err)};
	struct str path, gate, target = head->target;
	bool is_post = str_is(head->method, "POST");
	str_next_part(&target, '?', &path);
	if (is_post && str_has_suffix(path, "/responses")) {
		on_responses(mock, http, &request, &err);
	} else if (is_post && gate_name(path, &gate)) {
		mock_model_open_gate(mock, gate);
		http_reply(http, 204, NULL, STR(""));
	} else {
		record(mock, 0, &request);
		http_reply(http, 404, "application/json",
		           STR("{\"error\":{\"message\":\"mock-model answers only POST .../responses\"}}"));
	}
}

/* --- life -------------------------------------------------------------------------------------------------- */

static bool is_loopback(const char *host)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	if (uv_ip4_addr(host, 0, &v4) == 0)
		return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
	return uv_ip6_addr(host, 0, &v6) == 0 && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

static int open_parts(struct mock_model *mock, const struct mock_options *options, struct error *err)
{
	const char *host = options->host ? options->host : "127.0.0.1";
	int rc = options->script_path ? mock_script_read(&mock->script, options->script_path, err)
	                              : mock_script_parse(&mock->script, options->script, err);
	if (rc < 0)
		return rc;
	if (!options->allow_remote && !is_loopback(host))
		return error_set(err, ERR_denied,
		                 "will not listen on %s, where other machines could reach it; use 127.0.0.1, or say "
		                 "--allow-remote if that is wanted",
		                 host);
	if (options->record_path && !(mock->record = mock_record_create(options->record_path, err)))
		return -1;
	mock->server = http_server_create(mock->loop, host, options->port, on_request, mock, err);
	return mock->server ? 0 : -1;
}

struct mock_model *mock_model_create(struct loop *loop, const struct mock_options *options, struct error *err)
{
	struct mock_model *mock = xnew(struct mock_model);
	mock->loop = loop;
	mock->on_note = options->on_note;
	mock->self = options->self;
	mock->start_ms = clock_now_ms();
	list_init(&mock->exchanges);
	if (open_parts(mock, options, err) == 0)
		return mock;
	mock_model_destroy(mock);
	return NULL;
}

void mock_model_destroy(struct mock_model *mock)
{
	struct mock_exchange *exchange;
	if (!mock)
		return;
	list_for_each (exchange, &mock->exchanges, link)
		exchange_destroy(exchange);
	http_server_destroy(mock->server);
	mock_record_destroy(mock->record);
	mock_script_finish(&mock->script);
	vec_for_each (gate, &mock->gates)
		free(*gate);
	vec_finish(&mock->gates);
	free(mock);
}

uint16_t mock_model_port(const struct mock_model *mock)
{
	return mock->server ? http_server_port(mock->server) : 0;
}

uint64_t mock_model_requests(const struct mock_model *mock)
{
	return mock->requests;
}

uint64_t mock_model_failures(const struct mock_model *mock)
{
	return mock->failures;
}
