/* Frames are written byte by byte, like those of any peer; the last test connects the two ends. "Sent" is the whole
 * output of the end under test. */
#include "test.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_head.h"
#include "net/websocket.h"
#include "net/websocket_upgrade.h"

struct fixture {
	struct websocket *end;
	struct buf sent;
	bool is_slow;
};

static bool on_output(struct str bytes, void *self)
{
	struct fixture *f = self;
	buf_append_str(&f->sent, bytes);
	return !f->is_slow;
}

static void setup_role(struct fixture *f, enum websocket_role role)
{
	struct error err;
	*f = (struct fixture){0};
	buf_init(&f->sent, 64 * MIB);
	f->end = websocket_create(role, on_output, f, &err);
	assert_non_null(f->end);
}

static int setup(void **state)
{
	struct fixture *f = xnew(struct fixture);
	setup_role(f, WEBSOCKET_SERVER);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	websocket_destroy(f->end);
	buf_finish(&f->sent);
	free(f);
	return 0;
}

#define RECEIVE(f, literal) websocket_receive((f)->end, STR(literal))

static void expect_message(struct fixture *f, enum websocket_event event, const char *text)
{
	struct str message;
	assert_int_equal(websocket_next(f->end, &message), event);
	assert_int_equal(message.len, strlen(text));
	assert_memory_equal(message.ptr, text, message.len);
}

static void expect_wait(struct fixture *f)
{
	struct str message;
	assert_int_equal(websocket_next(f->end, &message), WEBSOCKET_WAIT);
}

/* A close with that code is the last frame that is sent. */
static void expect_failure(struct fixture *f, int code, const char *why)
{
	struct str message;
	assert_int_equal(websocket_next(f->end, &message), WEBSOCKET_CLOSED);
	assert_int_equal(websocket_next(f->end, &message), WEBSOCKET_CLOSED);
	const struct error *err = websocket_error(f->end);
	assert_non_null(err);
	if (!strstr(err->text, why))
		fail_msg("got \"%s\", want \"%s\"", err->text, why);
	assert_true(f->sent.len >= 4);
	assert_int_equal((uint8_t)f->sent.data[0], 0x88);
	assert_int_equal((uint8_t)f->sent.data[2] << 8 | (uint8_t)f->sent.data[3], code);
	size_t len = f->sent.len;
	websocket_send(f->end, STR("too late"));
	websocket_close(f->end, WEBSOCKET_CODE_NORMAL, "");
	assert_int_equal(f->sent.len, len);
}

static void test_text(void **state)
{
	struct fixture *f = *state;
	RECEIVE(f, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"); /* RFC 6455 5.7 */
	expect_message(f, WEBSOCKET_TEXT, "Hello");
	expect_wait(f);
	websocket_send(f->end, STR("Hello"));
	assert_str(buf_str(&f->sent), "\x81\x05Hello");
}

static void test_single_bytes(void **state)
{
	struct fixture *f = *state;
	static const char bytes[] = "\x81\x82\0\0\0\0{}\x81\x80\0\0\0\0\x81\x81\0\0\0\0x";
	struct str message;
	int texts = 0;
	for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
		websocket_receive(f->end, str_n(bytes + i, 1));
		while (websocket_next(f->end, &message) == WEBSOCKET_TEXT)
			texts++;
	}
	assert_int_equal(texts, 3);
}

static void test_messages_are_pulled(void **state)
{
	struct fixture *f = *state;
	RECEIVE(f, "\x81\x81\0\0\0\0a\x81\x81\0\0\0\0b\x82\x81\0\0\0\0c");
	expect_message(f, WEBSOCKET_TEXT, "a");
	RECEIVE(f, "\x81\x81\0\0\0\0d");
	expect_message(f, WEBSOCKET_TEXT, "b");
	expect_message(f, WEBSOCKET_BINARY, "c");
	expect_message(f, WEBSOCKET_TEXT, "d");
	expect_wait(f);
}

static void test_fragments_with_a_ping_between(void **state)
{
	struct fixture *f = *state;
	RECEIVE(f, "\x01\x82\0\0\0\0\xe2\x82\x89\x81\0\0\0\0p\x00\x80\0\0\0\0\x80\x82\0\0\0\0\xac!");
	expect_message(f, WEBSOCKET_TEXT, "€!");
	assert_str(buf_str(&f->sent), "\x8a\x01p");
}

static void test_close_is_answered(void **state)
{
	struct fixture *f = *state;
	struct str message;
	RECEIVE(f, "\x88\x85\0\0\0\0\x03\xe8"
	           "bye\x81\x81\0\0\0\0x");
	assert_int_equal(websocket_next(f->end, &message), WEBSOCKET_CLOSED);
	assert_null(websocket_error(f->end));
	assert_str(buf_str(&f->sent), "\x88\x02\x03\xe8");
	RECEIVE(f, "\x81\x81\0\0\0\0x");
	assert_int_equal(websocket_next(f->end, &message), WEBSOCKET_CLOSED);
}

static void test_close_without_code(void **state)
{
	struct fixture *f = *state;
	struct str message;
	RECEIVE(f, "\x88\x80\0\0\0\0");
	assert_int_equal(websocket_next(f->end, &message), WEBSOCKET_CLOSED);
	assert_null(websocket_error(f->end));
	assert_str(buf_str(&f->sent), "\x88"
	                              "\0");
}

static void test_close_with_a_complaint(void **state)
{
	struct fixture *f = *state;
	struct str message;
	RECEIVE(f, "\x88\x85\0\0\0\0\x03\xf1"
	           "big");
	assert_int_equal(websocket_next(f->end, &message), WEBSOCKET_CLOSED);
	assert_string_equal(websocket_error(f->end)->text, "the peer closed the WebSocket with code 1009: big");
}

/* This end closes first: no second close follows that of the peer. */
static void test_close_by_this_end(void **state)
{
	struct fixture *f = *state;
	struct str message;
	websocket_close(f->end, WEBSOCKET_CODE_GOING_AWAY, "end");
	RECEIVE(f, "\x81\x81\0\0\0\0x\x88\x82\0\0\0\0\x03\xe9");
	expect_message(f, WEBSOCKET_TEXT, "x");
	assert_int_equal(websocket_next(f->end, &message), WEBSOCKET_CLOSED);
	assert_null(websocket_error(f->end));
	assert_str(buf_str(&f->sent), "\x88\x05\x03\xe9"
	                              "end");
}

static void test_hostile_frames(void **state)
{
	static const struct {
		struct str bytes;
		int code;
		const char *why;
	} rows[] = {
		{STR("\x81\x02{}"), 1002, "unmasked"},
		{STR("\xc1\x82\0\0\0\0{}"), 1002, "reserved bit"},
		{STR("\x83\x81\0\0\0\0a"), 1002, "unknown opcode"},
		{STR("\x8b\x81\0\0\0\0a"), 1002, "unknown opcode"},
		{STR("\x80\x81\0\0\0\0a"), 1002, "continuation frame without a message"},
		{STR("\x01\x81\0\0\0\0a\x81\x81\0\0\0\0b"), 1002, "before the end of the last one"},
		{STR("\x09\x81\0\0\0\0a"), 1002, "invalid header"},                    /* a fragmented ping */
		{STR("\x89\xfe\0\x7e\0\0\0\0"), 1002, "invalid header"},               /* a ping of 126 bytes */
		{STR("\x81\xfe\0\x7d\0\0\0\0"), 1002, "invalid header"},               /* an overlong length */
		{STR("\x81\xff\0\0\0\0\0\0\xff\xff\0\0\0\0"), 1002, "invalid header"}, /* another overlong length */
		{STR("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0a"), 1002, "invalid header"},
		{STR("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0a"), 1009, "16 MiB"},
		{STR("\x82\xff\0\0\0\0\x01\0\0\x01\0\0\0\0a"), 1009, "16 MiB"},
		{STR("\x81\x82\0\0\0\0\xff\xfe"), 1007, "not UTF-8"},
		{STR("\x81\x83\0\0\0\0\xed\xa0\x80"), 1007, "not UTF-8"},
		{STR("\x81\x82\0\0\0\0\xe2\x82"), 1007, "not UTF-8"},
		{STR("\x88\x81\0\0\0\0\x03"), 1002, "an incomplete code"},
		{STR("\x88\x82\0\0\0\0\x03\xed"), 1002, "must not be sent"},
		{STR("\x88\x82\0\0\0\0\x07\xd0"), 1002, "must not be sent"},
		{STR("\x88\x83\0\0\0\0\x03\xe8\xff"), 1007, "reason is not UTF-8"},
	};
	(void)state;
	for (size_t i = 0; i < countof(rows); i++) {
		struct fixture f;
		setup_role(&f, WEBSOCKET_SERVER);
		websocket_receive(f.end, rows[i].bytes);
		expect_failure(&f, rows[i].code, rows[i].why);
		websocket_destroy(f.end);
		buf_finish(&f.sent);
	}
}

/* An announced length allocates nothing; fragments count together. */
static void test_too_many_fragments(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf chunk;
	buf_init(&chunk, MIB + 64);
	buf_append(&chunk, "\0\xff\0\0\0\0\0\x10\0\0\0\0\0\0", 14);
	memset(buf_reserve(&chunk, MIB), 'x', MIB);
	chunk.len += MIB;
	RECEIVE(f, "\x01\x80\0\0\0\0");
	expect_wait(f);
	for (int i = 0; i < 16; i++) {
		websocket_receive(f->end, str_n(chunk.data, 14));
		for (size_t at = 14; at < chunk.len; at += MIB / 4) {
			websocket_receive(f->end, str_n(chunk.data + at, MIB / 4));
			expect_wait(f);
		}
	}
	RECEIVE(f, "\x80\x81\0\0\0\0x");
	expect_failure(f, 1009, "16 MiB");
}

static void test_a_flood_of_pings_costs_one_pong(void **state)
{
	struct fixture *f = *state;
	f->is_slow = true;
	RECEIVE(f, "\x89\x81\0\0\0\0a\x89\x81\0\0\0\0b\x89\x81\0\0\0\0c");
	expect_wait(f);
	assert_str(buf_str(&f->sent), "\x8a\x01"
	                              "a");
	f->is_slow = false;
	websocket_drained(f->end);
	assert_str(buf_str(&f->sent), "\x8a\x01"
	                              "a\x8a\x01"
	                              "c");
	websocket_drained(f->end);
	assert_str(buf_str(&f->sent), "\x8a\x01"
	                              "a\x8a\x01"
	                              "c");
}

/* Each end receives what the other one sends, for sizes from zero to the limit. */
static void test_both_ends(void **state)
{
	static const size_t sizes[] = {0, 1, 125, 126, 127, 4095, 4096, 65535, 65536, 100000, LIMIT_WEBSOCKET_MESSAGE};
	struct fixture *server = *state, client;
	auto_free char *text = xmalloc(LIMIT_WEBSOCKET_MESSAGE);
	struct str message;
	setup_role(&client, WEBSOCKET_CLIENT);
	for (size_t i = 0; i < LIMIT_WEBSOCKET_MESSAGE; i++)
		text[i] = (char)('!' + i % 91);
	for (size_t i = 0; i < countof(sizes); i++) {
		struct fixture *from = i % 2 ? server : &client, *to = i % 2 ? &client : server;
		websocket_send(from->end, str_n(text, sizes[i]));
		struct str bytes = buf_str(&from->sent);
		enum websocket_event event = WEBSOCKET_WAIT;
		while (bytes.len) {
			size_t len = bytes.len < LIMIT_STREAM_READ ? bytes.len : LIMIT_STREAM_READ;
			assert_int_equal(event, WEBSOCKET_WAIT);
			websocket_receive(to->end, str_n(bytes.ptr, len));
			event = websocket_next(to->end, &message);
			bytes = str_skip(bytes, len);
		}
		assert_int_equal(event, WEBSOCKET_TEXT);
		assert_int_equal(message.len, sizes[i]);
		assert_memory_equal(message.ptr, text, sizes[i]);
		buf_clear(&from->sent);
	}
	websocket_destroy(client.end);
	buf_finish(&client.sent);
}

/* ---- the handshake ---- */

static int check_request(const char *text, const char **ret_refusal)
{
	struct http_head head;
	assert_int_equal(http_head_parse_request(&head, str_of(text)), 0);
	int status = websocket_upgrade_check(&head, ret_refusal);
	http_head_finish(&head);
	return status;
}

#define FIELDS "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

static void test_upgrade_check(void **state)
{
	static const struct {
		const char *request;
		int status;
		const char *refusal;
	} rows[] = {
		{"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" FIELDS, 0, ""},
		{"GET /x HTTP/1.1\r\nConnection: a\r\nConnection: b, UPGRADE\r\nUpgrade: h2c, WebSocket\r\n" FIELDS, 0,
	         ""},
		{"POST / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" FIELDS, 405,
	         "Request method must be `GET`"},
		{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400, "Connection header did not include 'upgrade'"},
		{"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n" FIELDS, 400,
	         "`Upgrade` header did not include 'websocket'"},
		{"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 400,
	         "`Sec-WebSocket-Version` header did not include '13'"},
		{"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n",
	         400, "`Sec-WebSocket-Key` header missing"},
	};
	(void)state;
	for (size_t i = 0; i < countof(rows); i++) {
		const char *refusal = "";
		assert_int_equal(check_request(rows[i].request, &refusal), rows[i].status);
		assert_string_equal(refusal, rows[i].refusal);
	}
}

static void test_accept(void **state)
{
	char accept[WEBSOCKET_ACCEPT_SIZE];
	(void)state;
	websocket_upgrade_accept(STR("dGhlIHNhbXBsZSBub25jZQ=="), accept); /* RFC 6455 1.3 */
	assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

static int answer(const char *key, const char *format, struct error *err)
{
	char accept[WEBSOCKET_ACCEPT_SIZE];
	websocket_upgrade_accept(str_of(key), accept);
	auto_buf struct buf head;
	buf_init(&head, KIB);
	buf_printf(&head, "%s%s\r\n\r\n", format, accept);
	return websocket_upgrade_answer(buf_str(&head), key, err);
}

static void test_client_handshake(void **state)
{
	auto_buf struct buf request;
	char key[WEBSOCKET_KEY_SIZE];
	struct error err;
	const char *refusal;
	(void)state;
	buf_init(&request, KIB);
	websocket_upgrade_request(&request, "localhost", "/", "Authorization: Bearer x\r\n", key);
	assert_int_equal(check_request(request.data, &refusal), 0);
	assert_int_equal(answer(key,
	                        "HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
	                        "Sec-WebSocket-Accept: ",
	                        &err),
	                 0);
	assert_int_not_equal(answer("other",
	                            "HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
	                            "Sec-WebSocket-Accept: x",
	                            &err),
	                     0);
	assert_int_not_equal(answer(key, "HTTP/1.1 101 X\r\nSec-WebSocket-Accept: ", &err), 0);
	assert_int_not_equal(answer(key, "HTTP/1.1 401 Unauthorized\r\nX: ", &err), 0);
	assert_string_equal(err.text, "the server refused to speak WebSocket: 401 Unauthorized");
	assert_int_not_equal(answer(key, "nonsense", &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_single_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_messages_are_pulled, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fragments_with_a_ping_between, setup, teardown),
		cmocka_unit_test_setup_teardown(test_close_is_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_close_without_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_close_with_a_complaint, setup, teardown),
		cmocka_unit_test_setup_teardown(test_close_by_this_end, setup, teardown),
		cmocka_unit_test(test_hostile_frames),
		cmocka_unit_test_setup_teardown(test_too_many_fragments, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_flood_of_pings_costs_one_pong, setup, teardown),
		cmocka_unit_test_setup_teardown(test_both_ends, setup, teardown),
		cmocka_unit_test(test_upgrade_check),
		cmocka_unit_test(test_accept),
		cmocka_unit_test(test_client_handshake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
