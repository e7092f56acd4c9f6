/* An Authorization header lets in if it shows the token, or a token that was signed with the secret and says so, and
 * for no other bytes. The first line holds the claims of a token, or the token; the rest is an arbitrary header. */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha.h"
#include "base/text.h"
#include "net/access_token.h"
#include "net/bearer.h"

enum { NOW = 1800000000 };

static const char token[] = "0123456789abcdef0123456789abcdef";
static struct bearer *capability, *signer;

/* A file of this process alone, with the secret. */
static void open_policies(void)
{
	char path[] = "/tmp/fuzz_bearer_XXXXXX";
	int fd = mkstemp(path);
	fuzz_check(fd >= 0 && write(fd, token, sizeof(token) - 1) == (ssize_t)sizeof(token) - 1);
	close(fd);
	fuzz_check(bearer_create(&(struct bearer_options){.mode = "capability-token", .token_file = path}, &capability,
	                         NULL) == 0);
	fuzz_check(bearer_create(&(struct bearer_options){.mode = "signed-bearer-token", .secret_file = path}, &signer,
	                         NULL) == 0);
	unlink(path);
}

static void put_part(struct buf *out, const void *bytes, size_t len)
{
	auto_buf struct buf text;
	buf_init(&text, 64 * MIB);
	text_base64(&text, bytes, len);
	for (size_t i = 0; i < text.len && text.data[i] != '='; i++)
		buf_append_char(out, text.data[i] == '+' ? '-' : text.data[i] == '/' ? '_' : text.data[i]);
}

/* "Bearer " and a properly signed token with arbitrary claims. */
static void put_signed(struct buf *out, struct str claims)
{
	static const char header[] = "{\"alg\":\"HS256\"}";
	uint8_t sum[SHA256_SIZE];
	buf_append_c(out, "Bearer ");
	size_t start = out->len;
	put_part(out, header, sizeof(header) - 1);
	buf_append_char(out, '.');
	put_part(out, claims.ptr, claims.len);
	sha256_hmac(str_n(token, sizeof(token) - 1), str_n(out->data + start, out->len - start), sum);
	buf_append_char(out, '.');
	put_part(out, sum, sizeof(sum));
}

/* An accepted header is rejected if any byte of it changes, except for the unused bits of the last byte. */
static void check_changes(struct buf *header, uint32_t seed)
{
	size_t at = strlen("Bearer ") + seed % (header->len - strlen("Bearer ") - 1);
	char old = header->data[at];
	header->data[at] = old == 'A' ? 'B' : 'A';
	fuzz_check(bearer_refusal(signer, buf_str(header), NOW));
	header->data[at] = old;
	header->len--;
	fuzz_check(bearer_refusal(signer, buf_str(header), NOW));
	header->len++;
}

static void check_claims(struct str claims, uint32_t seed)
{
	auto_buf struct buf header;
	buf_init(&header, 64 * MIB);
	put_signed(&header, claims);
	const char *refusal = bearer_refusal(signer, buf_str(&header), NOW);
	bool has_expiry = str_find(claims, STR("exp")) >= 0 || str_find(claims, STR("\\u")) >= 0;
	fuzz_check(refusal || has_expiry);
	if (!refusal)
		check_changes(&header, seed);
}

/* An accepted header contains the token. */
static void check_header(struct str header)
{
	const char *refusal = bearer_refusal(capability, header, NOW);
	bool shows_token = str_find(header, str_of(token)) >= 0;
	fuzz_check(refusal || (shows_token && access_token_matches(token, str_n(token, sizeof(token) - 1))));
	fuzz_check(access_token_matches(token, header) == str_is(header, token));
	bearer_refusal(signer, header, NOW);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t seed;
	struct str claims, rest;
	if (!capability)
		open_policies();
	if (size < sizeof(seed))
		return 0;
	memcpy(&seed, data, sizeof(seed));
	rest = str_n((const char *)data + sizeof(seed), size - sizeof(seed));
	if (!str_next_line(&rest, &claims))
		return 0;
	check_claims(claims, seed);
	check_header(rest);
	return 0;
}
