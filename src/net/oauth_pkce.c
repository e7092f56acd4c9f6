/* The verifier has 256 random bits, the most that 43 characters hold. */
#include "net/oauth_pkce.h"

#include <stdint.h>
#include <string.h>

#include "base/host.h"
#include "base/sha.h"
#include "base/text.h"

static void encode(const uint8_t bytes[32], char ret[OAUTH_PKCE_SIZE])
{
	auto_buf struct buf text;
	buf_init(&text, OAUTH_PKCE_SIZE);
	text_base64url(&text, bytes, 32);
	memcpy(ret, text.data, OAUTH_PKCE_SIZE);
}

static void make_random(char ret[OAUTH_PKCE_SIZE])
{
	uint8_t bytes[32];
	host_random(bytes, sizeof(bytes));
	encode(bytes, ret);
}

void oauth_pkce_init(struct oauth_pkce *pkce)
{
	uint8_t hash[SHA256_SIZE];
	make_random(pkce->verifier);
	make_random(pkce->state);
	sha256(str_of(pkce->verifier), hash);
	encode(hash, pkce->challenge);
}

/* ---- fields ---- */

static bool is_unreserved(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("-._~", c));
}

static void append_encoded(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		if (is_unreserved(c))
			buf_append_char(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

void oauth_append_field(struct buf *out, const char *name, struct str value)
{
	if (out->len && out->data[out->len - 1] != '?')
		buf_append_char(out, '&');
	append_encoded(out, str_of(name));
	buf_append_char(out, '=');
	append_encoded(out, value);
}

static struct str decode(struct arena *arena, struct str text)
{
	auto_buf struct buf out;
	buf_init(&out, text.len + 1);
	for (size_t i = 0; i < text.len; i++) {
		int high = text.ptr[i] == '%' && i + 2 < text.len ? str_hex_digit(text.ptr[i + 1]) : -1;
		int low = high >= 0 ? str_hex_digit(text.ptr[i + 2]) : -1;
		buf_append_char(&out, low >= 0 ? (char)(high << 4 | low) : text.ptr[i] == '+' ? ' ' : text.ptr[i]);
		i += low >= 0 ? 2 : 0;
	}
	return arena_str(arena, buf_str(&out));
}

struct str oauth_find_field(struct arena *arena, struct str query, const char *name)
{
	struct str pair, key;
	while (str_next_part(&query, '&', &pair))
		if (str_next_part(&pair, '=', &key) && str_is(key, name) && pair.ptr)
			return decode(arena, pair);
	return STR_NONE;
}
