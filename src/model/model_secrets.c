/* A header's name does not show whether it holds a secret, because gateways invent names. All configured headers
 * therefore count as secrets, except those listed below. Short words are not masked: "none" or "local" are placeholders
 * for the key of a local server, and occur in ordinary text. */
#include "model/model_secrets.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "config/aws_key.h"
#include "config/model_provider.h"

/* Minimum lengths of a key, of a word of a header, and of a truncated secret at the end of a text. */
enum { KEY_MIN = 6, WORD_MIN = 8, TAIL_MIN = 4 };

static const struct str mask = {"[redacted]", 10};

static const char *const public_headers[] = {
	"accept",         "accept-language", "anthropic-beta", "anthropic-version", "api-version",
	"content-type",   "http-referer",    "openai-beta",    "originator",        "openai-organization",
	"openai-project", "referer",         "user-agent",     "version",           "x-title",
};

/* Words that mark a query parameter as a secret if its name contains them. */
static const char *const secret_names[] = {"key", "token", "secret", "sig", "auth", "pass", "cred", "code"};

static void add(struct model_secrets *secrets, struct str word, size_t min)
{
	if (word.len < min)
		return;
	vec_push(&secrets->words, word);
	if (str_find_char(word, '/') < 0)
		return;
	auto_buf struct buf escaped; /* the secret with "\/" for "/", as some servers write JSON */
	buf_init(&escaped, 2 * word.len);
	for (size_t i = 0; i < word.len; i++) {
		if (word.ptr[i] == '/')
			buf_append_char(&escaped, '\\');
		buf_append_char(&escaped, word.ptr[i]);
	}
	vec_push(&secrets->words, arena_str(&secrets->arena, buf_str(&escaped)));
}

static bool is_separator(char c)
{
	return c == ' ' || c == '\t' || c == ';' || c == ',';
}

/* Adds the words of a value: abcd for "Basic abcd", abcd and efgh for "session=abcd; id=efgh". */
static void add_words(struct model_secrets *secrets, struct str value, size_t min)
{
	while (value.len) {
		size_t len = 0;
		while (len < value.len && !is_separator(value.ptr[len]))
			len++;
		struct str word = str_n(value.ptr, len);
		ptrdiff_t equals = str_find_char(word, '=');
		add(secrets, word, min);
		if (equals > 0)
			add(secrets, str_skip(word, (size_t)equals + 1), min);
		value = str_skip(value, len < value.len ? len + 1 : len);
	}
}

/* ---- other forms of a secret: servers quote what they made of it ---- */

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;
	return found ? (int)(found - digits) : -1;
}

/* Decodes %XX; the result is allocated in the arena. */
static struct str percent_decode(struct model_secrets *secrets, struct str text)
{
	auto_buf struct buf out;
	buf_init(&out, text.len);
	for (size_t i = 0; i < text.len; i++) {
		int high = text.ptr[i] == '%' && i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(text.ptr[i + 2]) : -1;
		buf_append_char(&out, low >= 0 ? (char)(high << 4 | low) : text.ptr[i]);
		i += low >= 0 ? 2 : 0;
	}
	return arena_str(&secrets->arena, buf_str(&out));
}

static void add_decoded(struct model_secrets *secrets, struct str text, size_t min)
{
	struct str decoded = percent_decode(secrets, text);
	add(secrets, text, min);
	if (!str_eq(decoded, text))
		add(secrets, decoded, min);
}

/* Adds the NAME:PASSWORD of "Basic BASE64". */
static void add_basic(struct model_secrets *secrets, struct str base64)
{
	auto_buf struct buf decoded;
	buf_init(&decoded, base64.len);
	if (!text_base64_decode(&decoded, base64))
		return;
	struct str password = arena_str(&secrets->arena, buf_str(&decoded)), name;
	if (str_next_part(&password, ':', &name))
		add(secrets, password, KEY_MIN);
}

/* Adds the NAME:PASSWORD@ of a URL, which is sent as a Basic header. */
static void add_userinfo(struct model_secrets *secrets, struct str url)
{
	ptrdiff_t start = str_find(url, STR("://"));
	struct str host = start < 0 ? STR_NONE : str_skip(url, (size_t)start + 3), name;
	for (size_t i = 0; i < host.len; i++)
		host.len = strchr("/?#", host.ptr[i]) ? i : host.len;
	ptrdiff_t at = str_rfind_char(host, '@');
	if (at < 0)
		return;
	host.len = (size_t)at;
	struct str password = host, both = percent_decode(secrets, host);
	auto_buf struct buf base64;
	buf_init(&base64, 2 * host.len + 4);
	text_base64(&base64, both.ptr, both.len);
	add(secrets, arena_str(&secrets->arena, buf_str(&base64)), KEY_MIN);
	if (str_next_part(&password, ':', &name))
		add_decoded(secrets, password, KEY_MIN);
}

static void add_header(struct model_secrets *secrets, struct str line)
{
	struct str name;
	if (!str_next_part(&line, ':', &name))
		return;
	for (size_t i = 0; i < countof(public_headers); i++) {
		if (str_equal_fold(name, str_of(public_headers[i])))
			return;
	}
	bool is_key = str_equal_fold(name, STR("authorization"));
	line = str_trim(line);
	ptrdiff_t scheme = is_key ? str_find_char(line, ' ') : -1;
	add_words(secrets, str_skip(line, (size_t)(scheme + 1)), is_key ? KEY_MIN : WORD_MIN);
	if (is_key && str_equal_fold(str_n(line.ptr, (size_t)(scheme + 1)), STR("basic ")))
		add_basic(secrets, str_trim(str_skip(line, (size_t)(scheme + 1))));
}

static bool is_secret_name(struct str name)
{
	for (size_t i = 0; i < countof(secret_names); i++) {
		if (str_contains_fold(name, str_of(secret_names[i])))
			return true;
	}
	return false;
}

static void add_query(struct model_secrets *secrets, struct str url)
{
	ptrdiff_t mark = str_find_char(url, '?');
	struct str query = mark < 0 ? STR_NONE : str_skip(url, (size_t)mark + 1), pair, name;
	while (str_next_part(&query, '&', &pair)) {
		if (str_next_part(&pair, '=', &name) && is_secret_name(name))
			add_decoded(secrets, pair, WORD_MIN);
	}
}

void model_secrets_init(struct model_secrets *secrets, const struct model_provider *provider)
{
	*secrets = (struct model_secrets){0};
	if (provider->authorization)
		add_header(secrets, str_of(provider->authorization));
	for (size_t i = 0; i < provider->header_count; i++)
		add_header(secrets, provider->headers[i]);
	if (provider->aws)
		add(secrets, str_of(provider->aws->secret), KEY_MIN);
	if (provider->aws && provider->aws->session)
		add(secrets, str_of(provider->aws->session), KEY_MIN);
	if (!provider->url)
		return;
	add_query(secrets, str_of(provider->url));
	add_userinfo(secrets, str_of(provider->url));
}

void model_secrets_add(struct model_secrets *secrets, struct str secret)
{
	add(secrets, arena_str(&secrets->arena, secret), KEY_MIN);
}

void model_secrets_finish(struct model_secrets *secrets)
{
	vec_finish(&secrets->words);
	arena_finish(&secrets->arena);
}

/* Returns the length of the secret at the start of text, or of its prefix if the text ends within it; 0 if no secret
 * starts there. */
static size_t secret_at(const struct model_secrets *secrets, struct str text)
{
	size_t longest = 0;
	vec_for_each(word, &secrets->words) {
		size_t len = word->len < text.len ? word->len : text.len;
		if (len > longest && (len == word->len || len >= TAIL_MIN) && memcmp(text.ptr, word->ptr, len) == 0)
			longest = len;
	}
	return longest;
}

void model_secrets_append_masked(const struct model_secrets *secrets, struct str text, struct buf *out)
{
	size_t from = 0, at = 0;
	while (at < text.len) {
		size_t len = secret_at(secrets, str_skip(text, at));
		if (len == 0) {
			at++;
			continue;
		}
		buf_append_str(out, str_n(text.ptr + from, at - from));
		buf_append_str(out, mask);
		at += len;
		from = at;
	}
	buf_append_str(out, str_skip(text, from));
}

void model_secrets_mask(const struct model_secrets *secrets, char *text, size_t max)
{
	auto_buf struct buf out;
	struct str whole = str_of(text);
	buf_init(&out, (whole.len + 1) * mask.len);
	model_secrets_append_masked(secrets, whole, &out);
	struct str masked = buf_str(&out);
	masked.len = text_floor_boundary(masked, max);
	memcpy(text, masked.ptr, masked.len);
	text[masked.len] = '\0';
}
