/* The server checks what the RFC requires. Sub-protocols and extensions that a client offers are ignored, which
 * declines them. */
#include "net/websocket_upgrade.h"

#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha.h"
#include "base/text.h"
#include "net/http_head.h"

static bool is_upgrade(const struct http_head *head)
{
	return http_head_has_token(head, "upgrade", "websocket");
}

static bool is_connection_upgrade(const struct http_head *head)
{
	return !head->is_http_1_0 && http_head_has_token(head, "connection", "upgrade");
}

static bool is_version(const struct http_head *head)
{
	return str_is(http_head_get(head, "sec-websocket-version"), "13");
}

static bool has_key(const struct http_head *head)
{
	return http_head_get(head, "sec-websocket-key").ptr != NULL;
}

/* True if there is exactly one key header, with the base64 of 16 bytes. */
static bool is_key(const struct http_head *head)
{
	auto_buf struct buf nonce;
	struct str key = http_head_get(head, "sec-websocket-key");
	buf_init(&nonce, 2 * WEBSOCKET_KEY_SIZE);
	return http_head_count(head, "sec-websocket-key") == 1 && key.len == WEBSOCKET_KEY_SIZE - 1 &&
	       text_base64_decode(&nonce, key) && nonce.len == 16;
}

/* True if no body follows the head: only frames may. */
static bool has_no_body(const struct http_head *head)
{
	struct str length = http_head_get(head, "content-length");
	return !http_head_count(head, "transfer-encoding") &&
	       (!length.ptr || (str_is(length, "0") && http_head_count(head, "content-length") == 1));
}

static bool is_get(const struct http_head *head)
{
	return str_is(head->method, "GET");
}

static const struct {
	bool (*holds)(const struct http_head *head);
	int status;
	const char *refusal;
} conditions[] = {
	{is_get, 405, "Request method must be `GET`"},
	{is_connection_upgrade, 400, "Connection header did not include 'upgrade'"},
	{is_upgrade, 400, "`Upgrade` header did not include 'websocket'"},
	{is_version, 400, "`Sec-WebSocket-Version` header did not include '13'"},
	{has_key, 400, "`Sec-WebSocket-Key` header missing"},
	{is_key, 400, "`Sec-WebSocket-Key` header must be given once, as base64 of 16 bytes"},
	{has_no_body, 400, "A request for a WebSocket must not have a body"},
};

int websocket_upgrade_check(const struct http_head *head, const char **ret_refusal)
{
	for (size_t i = 0; i < countof(conditions); i++) {
		if (!conditions[i].holds(head)) {
			*ret_refusal = conditions[i].refusal;
			return conditions[i].status;
		}
	}
	return 0;
}

static void put_base64(const void *bytes, size_t len, char *ret, size_t size)
{
	auto_buf struct buf text;
	buf_init(&text, KIB);
	text_base64(&text, bytes, len);
	snprintf(ret, size, "%.*s", STR_ARG(buf_str(&text)));
}

void websocket_upgrade_accept(struct str key, char ret[WEBSOCKET_ACCEPT_SIZE])
{
	auto_buf struct buf text;
	uint8_t sum[SHA1_SIZE];
	buf_init(&text, 2 * LIMIT_HTTP_HEAD);
	buf_append_str(&text, key);
	buf_append_c(&text, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
	sha1(buf_str(&text), sum);
	put_base64(sum, sizeof(sum), ret, WEBSOCKET_ACCEPT_SIZE);
}

void websocket_upgrade_request(struct buf *out, const char *host, const char *target, const char *extra,
                               char ret_key[WEBSOCKET_KEY_SIZE])
{
	uint8_t nonce[16];
	host_random(nonce, sizeof(nonce));
	put_base64(nonce, sizeof(nonce), ret_key, WEBSOCKET_KEY_SIZE);
	buf_printf(out, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", target, host);
	buf_printf(out, "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n%s\r\n", ret_key, extra);
}

static int check_answer(const struct http_head *head, const char *key, struct error *err)
{
	char want[WEBSOCKET_ACCEPT_SIZE];
	if (head->status != 101)
		return error_set(err, ERR_http_status, "the server refused to speak WebSocket: %d %.*s", head->status,
		                 STR_ARG(head->reason));
	websocket_upgrade_accept(str_of(key), want);
	if (!is_upgrade(head) || !is_connection_upgrade(head) ||
	    !str_is(http_head_get(head, "sec-websocket-accept"), want))
		return error_set(err, ERR_transport, "the server's answer to the WebSocket handshake is malformed");
	if (http_head_get(head, "sec-websocket-extensions").ptr || http_head_get(head, "sec-websocket-protocol").ptr)
		return error_set(err, ERR_transport, "the server chose a WebSocket extension that was not offered");
	return 0;
}

int websocket_upgrade_answer(struct str bytes, const char *key, struct error *err)
{
	struct http_head head;
	int status = http_head_parse_answer(&head, bytes)
	                     ? check_answer(&head, key, err)
	                     : error_set(err, ERR_transport, "the server does not speak HTTP");
	http_head_finish(&head);
	return status;
}
