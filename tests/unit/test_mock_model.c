/* The scripted model through a raw socket, on the same loop. */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "server/mock/mock_model.h"
#include "ui/serve/mock_command.h"

/* --- helpers ----------------------------------------------------------------------------------------------- */

struct fixture {
	struct loop *loop;
	struct mock_model *mock;
	struct buf notes;
	char record[64];
};

static int set_up(void **state)
{
	struct fixture *f = xnew(struct fixture);
	signal(SIGPIPE, SIG_IGN);
	f->loop = loop_create(NULL);
	buf_init(&f->notes, MIB);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	mock_model_destroy(f->mock);
	loop_destroy(f->loop);
	buf_finish(&f->notes);
	if (f->record[0])
		unlink(f->record);
	free(f);
	return 0;
}

static void on_note(const char *text, void *self)
{
	struct fixture *f = self;
	buf_append_c(&f->notes, text);
	buf_append_char(&f->notes, '\n');
}

static void start(struct fixture *f, const char *script)
{
	struct error err = {0};
	struct mock_options options = {.script = str_of(script), .on_note = on_note, .self = f};
	options.record_path = f->record[0] ? f->record : NULL;
	f->mock = mock_model_create(f->loop, &options, &err);
	if (!f->mock)
		fail_msg("%s", err.text);
}

static void turn(struct fixture *f)
{
	uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
}

static int dial(struct fixture *f)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(mock_model_port(f->mock))};
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static void ask(struct fixture *f, int fd, const char *path, const char *body)
{
	auto_buf struct buf request;
	buf_init(&request, MIB);
	buf_printf(&request,
	           "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nX-Api-Key: secret\r\n"
	           "Content-Length: %zu\r\n\r\n%s",
	           path, strlen(body), body);
	assert_int_equal(send(fd, request.data, request.len, MSG_NOSIGNAL), request.len);
	turn(f);
}

enum ending { STILL_OPEN, CLOSED, WAS_RESET };

/* Reads until the answer ends with `until` (NULL: until the connection is closed). */
static enum ending read_answer(struct fixture *f, int fd, struct buf *out, const char *until)
{
	static char bytes[65536];
	buf_clear(out);
	for (;;) {
		turn(f);
		ssize_t got = recv(fd, bytes, sizeof(bytes), 0);
		if (got == 0)
			return CLOSED;
		if (got < 0 && errno != EAGAIN)
			return WAS_RESET;
		if (got > 0)
			buf_append(out, bytes, (size_t)got);
		if (until && str_has_suffix(buf_str(out), until))
			return STILL_OPEN;
	}
}

#define LAST_CHUNK "\r\n0\r\n\r\n"

static bool has(const struct buf *out, const char *text)
{
	return str_find(buf_str(out), str_of(text)) >= 0;
}

/* Sends one request on a new connection and reads the whole answer. */
static enum ending exchange(struct fixture *f, const char *body, struct buf *out, const char *until)
{
	auto_close int fd = dial(f);
	ask(f, fd, "/v1/responses", body);
	return read_answer(f, fd, out, until);
}

/* --- answers ----------------------------------------------------------------------------------------------- */

static void test_two_requests_on_one_connection(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f, "{\"reply\": [{\"message\": \"one\"}], \"headers\": {\"x-request-id\": \"r1\"}}\n{\"reply\": "
	         "[{\"message\": \"two\"}]}");
	auto_close int fd = dial(f);
	ask(f, fd, "/v1/responses", "{}");
	assert_int_equal(read_answer(f, fd, &out, LAST_CHUNK), STILL_OPEN);
	assert_true(str_has_prefix(buf_str(&out),
	                           "HTTP/1.1 200 OK\r\nx-request-id: r1\r\n"
	                           "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"));
	assert_true(has(&out, "\"delta\":\"one\"") && has(&out, "event: response.completed\n"));
	ask(f, fd, "/any/prefix/responses?api-version=1", "{}");
	assert_int_equal(read_answer(f, fd, &out, LAST_CHUNK), STILL_OPEN);
	assert_true(has(&out, "\"delta\":\"two\"") && has(&out, "resp_2"));
	assert_int_equal(mock_model_requests(f->mock), 2);
	assert_int_equal(mock_model_failures(f->mock), 0);
}

static void test_status_with_body(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f, "{\"reply\": [{\"status\": 429, \"headers\": {\"retry-after\": \"1\"}, \"body\": {\"error\": {}}}]}\n"
	         "{\"reply\": [{\"status\": 200, \"headers\": {\"content-type\": \"text/html\"}, \"body\": \"<p>\"}]}");
	exchange(f, "{}", &out, "{\"error\": {}}");
	assert_true(str_has_prefix(buf_str(&out), "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\n"
	                                          "Content-Type: application/json\r\nContent-Length: 13\r\n"));
	exchange(f, "{}", &out, "<p>");
	assert_true(
		str_has_prefix(buf_str(&out), "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nContent-Length: 3\r\n"));
	assert_int_equal(mock_model_failures(f->mock), 0);
}

static void test_endings(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f, "{\"reply\": [{\"delta\": \"x\"}, {\"drop\": true}]}\n{\"reply\": [{\"drop\": true}]}\n"
	         "{\"reply\": [{\"drop\": \"reset\"}]}\n{\"reply\": [{\"delta\": \"x\"}, {\"eof\": true}]}\n"
	         "{\"reply\": []}");
	assert_int_equal(exchange(f, "{}", &out, NULL), CLOSED);
	assert_true(has(&out, "\"delta\":\"x\"") && !has(&out, LAST_CHUNK));
	assert_int_equal(exchange(f, "{}", &out, NULL), CLOSED);
	assert_int_equal(out.len, 0);
	assert_int_equal(exchange(f, "{}", &out, NULL), WAS_RESET);
	assert_int_equal(exchange(f, "{}", &out, LAST_CHUNK), STILL_OPEN);
	assert_false(has(&out, "completed"));
	assert_int_equal(exchange(f, "{}", &out, "\r\n\r\n0\r\n\r\n"), STILL_OPEN);
}

static void test_wire(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f, "{\"reply\": [{\"wire\": \"SSH-2.0\\r\\n\"}]}");
	assert_int_equal(exchange(f, "{}", &out, NULL), CLOSED);
	assert_str(buf_str(&out), "SSH-2.0\r\n");
}

static void test_pause_keeps_the_order(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f, "{\"reply\": [{\"delta\": \"a\"}, {\"delay_ms\": 2}, {\"delta\": \"b\"}, {\"delay_ms\": 0}]}");
	assert_int_equal(exchange(f, "{}", &out, LAST_CHUNK), STILL_OPEN);
	assert_true(has(&out, "\"text\":\"ab\""));
}

static void test_gate_and_hang_do_not_hold_up_others(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f,
	      "{\"reply\": [{\"hang\": true}]}\n{\"reply\": [{\"delta\": \"half\"}, {\"gate\": \"go\"}, {\"delta\": \" "
	      "all\"}]}\n"
	      "{\"reply\": [{\"message\": \"third\"}]}\n{\"reply\": [{\"gate\": \"go\"}, {\"message\": \"fourth\"}]}");
	auto_close int hung = dial(f), gated = dial(f), opener = dial(f);
	ask(f, hung, "/v1/responses", "{}");
	turn(f);
	ask(f, gated, "/v1/responses", "{}");
	read_answer(f, gated, &out, "\"half\"}\n\n\r\n");
	assert_int_equal(exchange(f, "{}", &out, LAST_CHUNK), STILL_OPEN);
	assert_true(has(&out, "third"));
	ask(f, opener, "/v1/gate/go", "");
	read_answer(f, opener, &out, "\r\n\r\n");
	assert_true(str_has_prefix(buf_str(&out), "HTTP/1.1 204 "));
	read_answer(f, gated, &out, LAST_CHUNK);
	assert_true(has(&out, "\"text\":\"half all\""));
	assert_int_equal(exchange(f, "{}", &out, LAST_CHUNK), STILL_OPEN); /* an open gate stays open */
	assert_true(has(&out, "fourth"));
	assert_int_equal(recv(hung, (char[1]){0}, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
}

static void test_a_client_disconnects(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f, "{\"reply\": [{\"delta\": \"x\"}, {\"hang\": true}]}\n{\"reply\": [{\"repeat\": 100000, \"steps\": "
	         "[{\"delta\": \"x\"}]}]}\n"
	         "{\"reply\": [{\"delay_ms\": 60000}]}\n{\"reply\": [{\"message\": \"last\"}]}");
	exchange(f, "{}", &out, "\"x\"}\n\n\r\n");
	for (int i = 0; i < 2; i++) {
		int fd = dial(f);
		ask(f, fd, "/v1/responses", "{}");
		turn(f);
		close(fd);
	}
	assert_int_equal(exchange(f, "{}", &out, LAST_CHUNK), STILL_OPEN);
	assert_true(has(&out, "last"));
}

/* The answer exceeds all socket buffers and is read in small pieces: the server waits, and nothing is lost. */
static void test_slow_reader_gets_all(void **state)
{
	struct fixture *f = *state;
	char bytes[8192];
	uint64_t count = 0;
	start(f, "{\"reply\": [{\"status\": 200}, {\"fill\": 20000000, \"with\": \"~\"}, {\"eof\": true}]}");
	auto_close int fd = dial(f);
	ask(f, fd, "/v1/responses", "{}");
	for (bool is_done = false; !is_done;) {
		turn(f);
		ssize_t got = recv(fd, bytes, sizeof(bytes), 0);
		if (got <= 0)
			assert_int_equal(errno, EAGAIN);
		for (ssize_t i = 0; i < got; i++)
			count += bytes[i] == '~';
		is_done = got > 0 && str_has_suffix(str_n(bytes, (size_t)got), "0\r\n\r\n");
	}
	assert_int_equal(count, 20000000);
}

/* --- requests that do not fit ------------------------------------------------------------------------------ */

static void test_request_that_does_not_fit(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f, "\n{\"reply\": [], \"expect\": {\"path\": {\"input.-1.output\": \"hello\"}}}");
	exchange(f, "{\"input\": [{\"output\": \"bye\"}]}", &out, "}}");
	assert_true(str_has_prefix(buf_str(&out), "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"));
	assert_true(has(&out, "{\"error\":{\"message\":\"mock-model: request 1: does not fit script line 2: "
	                      "input.-1.output should contain \\\"hello\\\"; it is \\\"bye\\\"\""));
	assert_str(buf_str(&f->notes), "request 1: does not fit script line 2: "
	                               "input.-1.output should contain \"hello\"; it is \"bye\"\n");
	assert_int_equal(mock_model_failures(f->mock), 1);
}

static void test_script_exhausted(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f, "{\"reply\": []}");
	exchange(f, "{}", &out, LAST_CHUNK);
	exchange(f, "{}", &out, "}}");
	assert_true(str_has_prefix(buf_str(&out), "HTTP/1.1 400 Bad Request\r\n"));
	assert_true(has(&out, "request 2: script exhausted: none of its 1 replies is left"));
	assert_int_equal(mock_model_failures(f->mock), 1);
}

static void test_value_that_cannot_be_taken(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f, "{\"reply\": [], \"take\": {\"s\": {\"from\": \"input.-1.output\", \"after\": \"ID \"}}}");
	exchange(f, "{}", &out, "}}");
	assert_true(str_has_prefix(buf_str(&out), "HTTP/1.1 400 "));
	assert_true(has(&out, "line 1: nothing to take for {s}"));
}

static void test_body_that_is_not_json(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f, "{\"reply\": []}");
	exchange(f, "{\"a\": }", &out, "}}");
	assert_true(str_has_prefix(buf_str(&out), "HTTP/1.1 400 "));
	assert_true(has(&out, "request 1: the body is not JSON: line 1 column 7: "));
	exchange(f, "{}", &out, LAST_CHUNK); /* the failed request used no reply */
	assert_int_equal(mock_model_failures(f->mock), 1);
}

static void test_other_requests_take_no_reply(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf out;
	buf_init(&out, MIB);
	start(f, "{\"reply\": [{\"message\": \"one\"}]}");
	auto_close int fd = dial(f);
	struct str get = STR("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_int_equal(send(fd, get.ptr, get.len, MSG_NOSIGNAL), get.len);
	read_answer(f, fd, &out, "}}");
	assert_true(str_has_prefix(buf_str(&out), "HTTP/1.1 404 Not Found\r\n"));
	exchange(f, "{}", &out, LAST_CHUNK);
	assert_true(has(&out, "\"delta\":\"one\""));
	assert_int_equal(mock_model_requests(f->mock), 1);
}

/* --- the record -------------------------------------------------------------------------------------------- */

static const struct json *next_record(struct arena *arena, struct str *rest)
{
	struct str line;
	assert_true(str_next_line(rest, &line));
	const struct json *entry = json_parse(arena, line, NULL);
	assert_non_null(entry);
	return entry;
}

static void test_record(void **state)
{
	struct fixture *f = *state;
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	buf_init(&out, MIB);
	strncpy(f->record, "/tmp/test_mock_model.XXXXXX", sizeof(f->record) - 1);
	close(mkstemp(f->record));
	start(f, "{\"reply\": []}\n{\"reply\": []}");
	auto_close int fd = dial(f);
	ask(f, fd, "/v1/models", "");
	read_answer(f, fd, &out, "}}");
	exchange(f, "{\"model\":\n \"m\"}", &out, LAST_CHUNK);
	exchange(f, "nope", &out, "}}");
	buf_clear(&out);
	assert_int_equal(file_read(f->record, &out, NULL), 0);
	struct str rest = buf_str(&out);
	const struct json *entry = next_record(&arena, &rest);
	assert_true(json_is(json_get(entry, "n"), JSON_null));
	assert_str(json_get_str(entry, "path"), "/v1/models");
	entry = next_record(&arena, &rest);
	assert_int_equal(json_get_i64(entry, "n", 0), 1);
	assert_true(json_get_i64(entry, "at_ms", -1) >= 0);
	assert_str(json_get_str(entry, "method"), "POST");
	assert_str(json_get_str(json_get(entry, "headers"), "authorization"), "Bearer ***");
	assert_str(json_get_str(json_get(entry, "headers"), "x-api-key"), "***");
	assert_str(json_get_str(json_get(entry, "body"), "model"), "m");
	entry = next_record(&arena, &rest);
	assert_str(json_get_str(entry, "body"), "nope");
	assert_int_equal(rest.len, 0);
	assert_false(has(&out, "secret"));
}

/* --- starting ---------------------------------------------------------------------------------------------- */

static void refuses(struct fixture *f, const struct mock_options *options, const char *text)
{
	struct error err = {0};
	assert_null(mock_model_create(f->loop, options, &err));
	if (!str_has_prefix(str_of(err.text), text))
		fail_msg("got \"%s\", want \"%s\"", err.text, text);
}

static void test_invalid_options(void **state)
{
	struct fixture *f = *state;
	struct str script = STR("{\"reply\": []}");
	refuses(f, &(struct mock_options){.script = STR("{}")}, "line 1: \"reply\" is missing");
	refuses(f, &(struct mock_options){.script_path = "no/such/file"}, "cannot open no/such/file");
	refuses(f, &(struct mock_options){.script = script, .host = "0.0.0.0"}, "refusing to listen on 0.0.0.0");
	refuses(f, &(struct mock_options){.script = script, .host = "example.org"},
	        "refusing to listen on example.org");
	refuses(f, &(struct mock_options){.script = script, .record_path = "/no/such/file"},
	        "cannot write /no/such/file");
	start(f, "{\"reply\": []}");
	refuses(f, &(struct mock_options){.script = script, .port = mock_model_port(f->mock)},
	        "cannot listen on 127.0.0.1:");
}

static int run_main(const char *const *argv)
{
	char *copy[8] = {NULL};
	int argc = 0;
	for (; argv[argc]; argc++)
		copy[argc] = xstrdup(argv[argc]);
	int status = mock_model_main(argc, copy);
	while (argc > 0)
		free(copy[--argc]);
	return status;
}

static void test_command_lines(void **state)
{
	(void)state;
	assert_int_equal(run_main((const char *[]){"mock-model", NULL}), 2);
	assert_int_equal(run_main((const char *[]){"mock-model", "--script", "x", "more", NULL}), 2);
	assert_int_equal(run_main((const char *[]){"mock-model", "--what", NULL}), 2);
	assert_int_equal(run_main((const char *[]){"mock-model", "--script", "x", "--listen", "127.0.0.1:x", NULL}), 2);
	assert_int_equal(run_main((const char *[]){"mock-model", "--script", "no/such/file", NULL}), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_two_requests_on_one_connection),
		CASE(test_status_with_body),
		CASE(test_endings),
		CASE(test_wire),
		CASE(test_pause_keeps_the_order),
		CASE(test_gate_and_hang_do_not_hold_up_others),
		CASE(test_a_client_disconnects),
		CASE(test_slow_reader_gets_all),
		CASE(test_request_that_does_not_fit),
		CASE(test_script_exhausted),
		CASE(test_value_that_cannot_be_taken),
		CASE(test_body_that_is_not_json),
		CASE(test_other_requests_take_no_reply),
		CASE(test_record),
		CASE(test_invalid_options),
		CASE(test_command_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
