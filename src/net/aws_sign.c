/* Source: "Create a signed AWS API request" of the IAM user guide. Paths are encoded a second time, as all services but
 * S3 demand. */
#include "net/aws_sign.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha.h"
#include "base/vec.h"
#include "net/http_url.h"

enum { DATE_SIZE = sizeof("20150830T123600Z"), DAY_LEN = 8 };

/* ---- the canonical request ---- */

static void append_path(struct buf *out, struct str path)
{
	buf_append_c(out, path.len ? "" : "/");
	for (size_t i = 0; i < path.len; i++) {
		char c = path.ptr[i];
		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c && strchr("-._~/", c)))
			buf_append_char(out, c);
		else
			buf_printf(out, "%%%02X", (unsigned char)c);
	}
}

/* Compares by the names, then by the values. */
static int compare(const void *a, const void *b)
{
	struct str left = *(const struct str *)a, right = *(const struct str *)b, name, other;
	str_next_part(&left, '=', &name);
	str_next_part(&right, '=', &other);
	int order = str_compare(name, other);
	return order ? order : str_compare(left, right);
}

/* The parameters in order. They are encoded already, but one without a value gets its "=". */
static void append_query(struct buf *out, struct str url)
{
	VEC(struct str) params = {0};
	ptrdiff_t mark = str_find_char(url, '?');
	struct str rest = mark < 0 ? STR_NONE : str_skip(url, (size_t)mark + 1), param;
	while (str_next_part(&rest, '&', &param))
		if (param.len)
			vec_push(&params, param);
	if (params.count)
		qsort(params.items, params.count, sizeof(*params.items), compare);
	for (size_t i = 0; i < params.count; i++) {
		buf_append_c(out, i ? "&" : "");
		buf_append_str(out, params.items[i]);
		buf_append_c(out, str_find_char(params.items[i], '=') < 0 ? "=" : "");
	}
	vec_finish(&params);
}

/* The port belongs to the host unless it is that of the scheme. */
static void append_host(struct buf *out, const struct http_url *url)
{
	bool is_usual = str_is(url->port, url->is_https ? "443" : "80");
	buf_printf(out, "host:%.*s%s%.*s\n", STR_ARG(url->host), is_usual ? "" : ":", is_usual ? 0 : (int)url->port.len,
	           url->port.ptr);
}

static void append_request(struct buf *out, const struct aws_signer *signer, struct str method, struct str text,
                           const char *date)
{
	struct http_url url = {0};
	if (!http_url_parse(text, &url))
		return;
	buf_append_str(out, method);
	buf_append_c(out, "\n");
	append_path(out, url.path);
	buf_append_c(out, "\n");
	append_query(out, text);
	buf_append_c(out, "\n");
	append_host(out, &url);
	buf_printf(out, "x-amz-date:%s\n", date);
	if (signer->session)
		buf_printf(out, "x-amz-security-token:%s\n", signer->session);
}

/* ---- the signature ---- */

/* Replaces key by the HMAC of text with it. */
static void chain(uint8_t key[SHA256_SIZE], struct str text)
{
	uint8_t next[SHA256_SIZE];
	sha256_hmac(str_n((const char *)key, SHA256_SIZE), text, next);
	memcpy(key, next, sizeof(next));
}

static void sign(const struct aws_signer *signer, const char *date, struct str text, uint8_t ret[SHA256_SIZE])
{
	char *first = xasprintf("AWS4%s", signer->secret);
	sha256_hmac(str_of(first), str_n(date, DAY_LEN), ret);
	explicit_bzero(first, strlen(first));
	free(first);
	chain(ret, str_of(signer->region));
	chain(ret, str_of(signer->service));
	chain(ret, STR("aws4_request"));
	chain(ret, text);
}

struct aws_signature aws_sign(const struct aws_signer *signer, struct str method, struct str url,
                              const struct str *body, size_t body_count, int64_t now_unix_s, struct arena *arena)
{
	const char *names = signer->session ? "host;x-amz-date;x-amz-security-token" : "host;x-amz-date";
	char date[DATE_SIZE] = "", hash[SHA256_TEXT_SIZE], hex[SHA256_TEXT_SIZE];
	time_t now = (time_t)now_unix_s;
	struct tm tm;
	uint8_t signature[SHA256_SIZE];
	auto_buf struct buf request;
	buf_init(&request, 8 * LIMIT_HTTP_HEAD);
	if (gmtime_r(&now, &tm))
		strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &tm);
	append_request(&request, signer, method, url, date);
	sha256_parts_text(body, body_count, hash);
	buf_printf(&request, "\n%s\n%s", names, hash);
	sha256_text(buf_str(&request), hash);
	const char *scope = arena_printf(arena, "%.8s/%s/%s/aws4_request", date, signer->region, signer->service);
	const char *text = arena_printf(arena, "AWS4-HMAC-SHA256\n%s\n%s\n%s", date, scope, hash);
	sign(signer, date, str_of(text), signature);
	sha256_hex(signature, hex);
	struct aws_signature result = {
		.authorization = str_of(arena_printf(
			arena, "Authorization: AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
			signer->key_id, scope, names, hex)),
		.date = str_of(arena_printf(arena, "x-amz-date: %s", date)),
	};
	if (signer->session)
		result.session = str_of(arena_printf(arena, "x-amz-security-token: %s", signer->session));
	return result;
}
