/* A state machine that consumes a slice. The connection keeps unread bytes, so an incomplete line is left for the next
 * call. Input that two readers could frame differently (two lengths, a length with chunks, signs, blanks) is
 * refused. */
#include "net/http_body.h"

#include "base/limits.h"
#include "net/http_head.h"

static int start_chunked(struct http_body *body, const struct http_head *head)
{
	if (head->is_http_1_0 || http_head_count(head, "content-length") ||
	    http_head_count(head, "transfer-encoding") > 1)
		return 400;
	if (!str_equal_fold(http_head_get(head, "transfer-encoding"), STR("chunked")))
		return 501;
	body->state = HTTP_BODY_CHUNK_LINE;
	return 0;
}

int http_body_start(struct http_body *body, const struct http_head *head, size_t max)
{
	*body = (struct http_body){.state = HTTP_BODY_DONE};
	if (http_head_count(head, "transfer-encoding"))
		return start_chunked(body, head);
	unsigned lengths = http_head_count(head, "content-length");
	if (lengths == 0)
		return 0;
	if (lengths > 1 || !str_to_u64(http_head_get(head, "content-length"), &body->left))
		return 400;
	if (body->left > max)
		return 413;
	if (body->left)
		body->state = HTTP_BODY_SIZED;
	return 0;
}

/* "1f4" or "1f4;extension" */
static bool parse_chunk_size(struct str line, uint64_t *ret)
{
	struct str digits;
	uint64_t size = 0;
	str_next_part(&line, ';', &digits);
	if (digits.len == 0 || digits.len > 15)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		int digit = str_hex_digit(digits.ptr[i]);
		if (digit < 0)
			return false;
		size = size * 16 + (uint64_t)digit;
	}
	*ret = size;
	return true;
}

/* Returns 1 with the line cut off *input; 0 if it is incomplete; -1 if it is too long or not terminated by CRLF. */
static int take_line(struct str *input, struct str *ret_line)
{
	ptrdiff_t end = str_find_char(*input, '\n');
	if (end < 0)
		return input->len > LIMIT_HTTP_CHUNK_LINE ? -1 : 0;
	if (end == 0 || end > LIMIT_HTTP_CHUNK_LINE || input->ptr[end - 1] != '\r')
		return -1;
	*ret_line = str_n(input->ptr, (size_t)end - 1);
	*input = str_skip(*input, (size_t)end + 1);
	return 1;
}

static int on_chunk_line(struct http_body *body, struct str line)
{
	if (!parse_chunk_size(line, &body->left))
		return 400;
	body->state = body->left ? HTTP_BODY_CHUNK : HTTP_BODY_TRAILER;
	return 0;
}

static int on_trailer_line(struct http_body *body, struct str line)
{
	body->trailer_len += line.len + 2;
	if (body->trailer_len > LIMIT_HTTP_HEAD)
		return 400;
	if (line.len == 0)
		body->state = HTTP_BODY_DONE;
	return 0;
}

static int on_line(struct http_body *body, struct str line)
{
	switch (body->state) {
	case HTTP_BODY_CHUNK_LINE:
		return on_chunk_line(body, line);
	case HTTP_BODY_CHUNK_END:
		body->state = HTTP_BODY_CHUNK_LINE;
		return line.len ? 400 : 0;
	default:
		return on_trailer_line(body, line);
	}
}

static int take_bytes(struct http_body *body, struct str *input, struct buf *out)
{
	size_t count = body->left < input->len ? (size_t)body->left : input->len;
	buf_append(out, input->ptr, count);
	if (out->over)
		return 413;
	*input = str_skip(*input, count);
	body->left -= count;
	if (body->left == 0)
		body->state = body->state == HTTP_BODY_SIZED ? HTTP_BODY_DONE : HTTP_BODY_CHUNK_END;
	return 0;
}

int http_body_feed(struct http_body *body, struct str *input, struct buf *out)
{
	int refused = 0;
	while (!refused && input->len && body->state != HTTP_BODY_DONE) {
		if (body->state == HTTP_BODY_SIZED || body->state == HTTP_BODY_CHUNK) {
			refused = take_bytes(body, input, out);
			continue;
		}
		struct str line;
		int taken = take_line(input, &line);
		if (taken == 0)
			break;
		refused = taken < 0 ? 400 : on_line(body, line);
	}
	return refused;
}
