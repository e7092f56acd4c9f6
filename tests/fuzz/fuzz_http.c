/* A request is understood, or refused, in the same way however it is cut; what is shown of a URL holds no user
 * information, query or fragment. The first four bytes of an input choose the places of the cuts. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_body.h"
#include "net/http_head.h"
#include "net/http_url.h"

enum { BODY_MAX = 64 }; /* small, so that the limit is met too */

struct outcome {
	int refused;
	enum http_body_state state;
	struct buf body;
};

static void read_body(const struct http_head *head, struct str bytes, size_t longest, uint32_t seed,
                      struct outcome *ret)
{
	struct http_body framing;
	auto_buf struct buf input; /* as the server keeps it: what is not yet understood stays at the front */
	buf_init(&input, 64 * MIB);
	buf_init(&ret->body, BODY_MAX);
	ret->refused = http_body_start(&framing, head, BODY_MAX);
	while (bytes.len && !ret->refused && framing.state != HTTP_BODY_DONE) {
		seed = seed * 1664525 + 1013904223;
		size_t len = 1 + (seed >> 8) % longest;
		if (len > bytes.len)
			len = bytes.len;
		buf_append(&input, bytes.ptr, len);
		bytes = str_skip(bytes, len);
		struct str rest = buf_str(&input);
		ret->refused = http_body_feed(&framing, &rest, &ret->body);
		buf_consume(&input, input.len - rest.len);
	}
	ret->state = framing.state;
}

static void check_request(struct str bytes, uint32_t seed)
{
	struct http_head head;
	ptrdiff_t end = str_find(bytes, STR("\r\n\r\n"));
	struct str head_bytes = end < 0 ? bytes : str_n(bytes.ptr, (size_t)end + 4);
	if (http_head_parse_request(&head, head_bytes) == 0) {
		struct outcome whole, pieces;
		fuzz_check(end > 0 && head.method.len && head.target.len);
		bytes = str_skip(bytes, head_bytes.len);
		read_body(&head, bytes, bytes.len + 1, 0, &whole);
		read_body(&head, bytes, 1 + seed % 13, seed, &pieces);
		fuzz_check(whole.refused == pieces.refused);
		fuzz_check(whole.refused || whole.state == pieces.state);
		fuzz_check(whole.refused || str_eq(buf_str(&whole.body), buf_str(&pieces.body)));
		buf_finish(&whole.body);
		buf_finish(&pieces.body);
	}
	http_head_finish(&head);
}

static void check_answer(struct str bytes)
{
	struct http_head head;
	if (http_head_parse_answer(&head, bytes))
		fuzz_check(head.status >= 0 && head.status <= 999 && head.reason.ptr);
	vec_for_each(header, &head.headers)
		fuzz_check(http_head_get(&head, "date").ptr || !str_equal_fold(header->name, STR("date")));
	http_head_finish(&head);
}

static void check_url(struct str text)
{
	auto_buf struct buf shown;
	buf_init(&shown, text.len + 64);
	http_url_append_public(&shown, text);
	fuzz_check(!shown.over);
	fuzz_check(str_find_char(buf_str(&shown), '?') < 0 && str_find_char(buf_str(&shown), '#') < 0);
	struct http_url url;
	if (http_url_parse(text, &url))
		fuzz_check(str_find_char(url.host, '@') < 0 && str_find_char(url.port, '@') < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t seed;
	if (size < sizeof(seed))
		return 0;
	memcpy(&seed, data, sizeof(seed));
	struct str bytes = {(const char *)data + sizeof(seed), size - sizeof(seed)};
	check_request(bytes, seed);
	check_answer(bytes);
	check_url(bytes);
	return 0;
}
