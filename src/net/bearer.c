/* Tokens are compared by digest or MAC in constant time, so that the duration of an answer reveals nothing about the
 * secret. The signature is verified before any claim is parsed.
 *
 * The accepted lengths are those of codex 0.169, so that a token that works there works here. The files must meet the
 * stricter conditions of access_token.h. */
#include "net/bearer.h"

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha.h"
#include "base/text.h"
#include "net/access_token.h"

enum { SECRET_MIN = 32, CLOCK_SKEW_S = 30 };

struct bearer {
	const char *(*refusal)(const struct bearer *bearer, struct str token, int64_t now_s);
	uint8_t digest[SHA256_SIZE]; /* SHA-256 of the capability token */
	char *secret;                /* HMAC key of signed tokens */
	size_t secret_len;
	char *issuer, *audience; /* NULL: this claim is not checked */
	int64_t skew_s;
};

static struct str hash_str(const uint8_t *hash)
{
	return str_n((const char *)hash, SHA256_SIZE);
}

/* ---- capability tokens ---- */

static const char *capability_refusal(const struct bearer *bearer, struct str token, int64_t now_s)
{
	uint8_t digest[SHA256_SIZE];
	(void)now_s;
	sha256(token, digest);
	return str_eq_secret(hash_str(digest), hash_str(bearer->digest)) ? NULL : "invalid websocket bearer token";
}

/* ---- signed tokens ---- */

static const char bad_token[] = "invalid websocket jwt";

static const struct json *parse_part(struct arena *arena, struct str part)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_HTTP_HEAD);
	const struct json *json =
		text_base64url_decode(&text, part) ? json_parse_copy(arena, buf_str(&text), NULL) : NULL;
	return json_is(json, JSON_object) ? json : NULL;
}

static bool is_signed(const struct bearer *bearer, struct str text, struct str signature)
{
	auto_buf struct buf given;
	uint8_t want[SHA256_SIZE];
	buf_init(&given, LIMIT_HTTP_HEAD);
	sha256_hmac(str_n(bearer->secret, bearer->secret_len), text, want);
	return text_base64url_decode(&given, signature) && str_eq_secret(buf_str(&given), hash_str(want));
}

/* True if the claim is a string equal to want, or an array that contains it. */
static bool names(const struct json *claim, const char *want)
{
	if (json_is(claim, JSON_string))
		return str_is(claim->text, want);
	if (!json_is(claim, JSON_array))
		return false;
	json_for_each(it, claim)
		if (json_is(it, JSON_string) && str_is(it->text, want))
			return true;
	return false;
}

/* Reads a time that the clock skew can be added to; an absent claim leaves *ret unchanged. */
static bool read_time(const struct json *claim, int64_t *ret)
{
	return !claim || (json_to_i64(claim, ret) && *ret >= 0 && *ret < INT64_MAX / 4);
}

static const char *claims_refusal(const struct bearer *bearer, const struct json *claims, int64_t now_s)
{
	int64_t expires = -1, begins = 0;
	if (!read_time(json_get(claims, "exp"), &expires) || expires < 0 ||
	    !read_time(json_get(claims, "nbf"), &begins))
		return bad_token;
	if (now_s > expires + bearer->skew_s)
		return "expired websocket jwt";
	if (now_s + bearer->skew_s < begins)
		return "websocket jwt is not valid yet";
	if (bearer->issuer && !str_is(json_get_str(claims, "iss"), bearer->issuer))
		return "websocket jwt issuer mismatch";
	if (bearer->audience && !names(json_get(claims, "aud"), bearer->audience))
		return "websocket jwt audience mismatch";
	return NULL;
}

static const char *signed_refusal(const struct bearer *bearer, struct str token, int64_t now_s)
{
	auto_arena struct arena arena = {0};
	ptrdiff_t last = str_rfind_char(token, '.');
	struct str head, rest = last < 0 ? STR_NONE : str_n(token.ptr, (size_t)last);
	if (last < 0 || !is_signed(bearer, rest, str_skip(token, (size_t)last + 1)))
		return bad_token;
	str_next_part(&rest, '.', &head);
	if (!rest.ptr)
		return bad_token;
	const struct json *header = parse_part(&arena, head), *claims = parse_part(&arena, rest);
	if (!header || !claims || !str_is(json_get_str(header, "alg"), "HS256"))
		return bad_token;
	return claims_refusal(bearer, claims, now_s);
}

const char *bearer_refusal(const struct bearer *bearer, struct str authorization, int64_t now_s)
{
	struct str scheme, token = str_trim(authorization);
	if (!authorization.ptr)
		return "missing websocket bearer token";
	str_next_part(&token, ' ', &scheme);
	if (!str_equal_fold(scheme, STR("bearer")) || !token.ptr || !str_trim(token).len)
		return "invalid authorization header";
	return bearer->refusal(bearer, str_trim(token), now_s);
}

/* ---- the policy ---- */

static void wipe(struct buf *text)
{
	if (text->data)
		explicit_bzero(text->data, text->len);
}

static int read_secret(const char *path, struct buf *out, struct str *ret, struct error *err)
{
	if (access_token_read_file(path, out, err) != 0)
		return error_wrap(err, "failed to read websocket auth secret");
	*ret = str_trim(buf_str(out));
	if (!ret->len)
		return error_set(err, ERR_config, "websocket auth secret %s must not be empty", path);
	return 0;
}

static int read_digest(const char *hex, uint8_t *ret, struct error *err)
{
	bool is_good = strlen(hex) == SHA256_SIZE * 2;
	for (size_t i = 0; is_good && i < SHA256_SIZE; i++) {
		int high = str_hex_digit(hex[2 * i]), low = str_hex_digit(hex[2 * i + 1]);
		is_good = high >= 0 && low >= 0;
		ret[i] = (uint8_t)(high << 4 | low);
	}
	if (!is_good)
		return error_set(err, ERR_config, "--ws-token-sha256 must be a 64-character hex SHA-256 digest");
	return 0;
}

static int open_capability(struct bearer *bearer, const struct bearer_options *options, struct error *err)
{
	auto_buf struct buf text;
	struct str token;
	buf_init(&text, LIMIT_TOKEN_FILE);
	bearer->refusal = capability_refusal;
	if (options->secret_file || options->issuer || options->audience || options->clock_skew_seconds)
		return error_set(err, ERR_config,
		                 "`--ws-shared-secret-file`, `--ws-issuer`, `--ws-audience`, and "
		                 "`--ws-max-clock-skew-seconds` require `--ws-auth signed-bearer-token`");
	if (options->token_file && options->token_sha256)
		return error_set(err, ERR_config, "`--ws-token-file` and `--ws-token-sha256` are mutually exclusive");
	if (options->token_sha256)
		return read_digest(options->token_sha256, bearer->digest, err);
	if (!options->token_file)
		return error_set(err, ERR_config,
		                 "`--ws-token-file` or `--ws-token-sha256` is required when "
		                 "`--ws-auth capability-token` is set");
	if (read_secret(options->token_file, &text, &token, err) != 0)
		return -(int)err->code;
	sha256(token, bearer->digest);
	wipe(&text);
	return 0;
}

static int copy_name(const char *option, const char *value, char **ret, struct error *err)
{
	if (value && !*value)
		return error_set(err, ERR_config, "`%s` must not be empty", option);
	*ret = value ? xstrdup(value) : NULL;
	return 0;
}

static int open_signed(struct bearer *bearer, const struct bearer_options *options, struct error *err)
{
	auto_buf struct buf text;
	struct str secret;
	buf_init(&text, LIMIT_TOKEN_FILE);
	bearer->refusal = signed_refusal;
	bearer->skew_s = CLOCK_SKEW_S;
	if (options->token_file || options->token_sha256)
		return error_set(err, ERR_config,
		                 "`--ws-token-file` and `--ws-token-sha256` require "
		                 "`--ws-auth capability-token`, not `signed-bearer-token`");
	if (!options->secret_file)
		return error_set(err, ERR_config,
		                 "`--ws-shared-secret-file` is required when "
		                 "`--ws-auth signed-bearer-token` is set");
	if (options->clock_skew_seconds && (!str_to_i64(str_of(options->clock_skew_seconds), &bearer->skew_s) ||
	                                    bearer->skew_s < 0 || bearer->skew_s > INT32_MAX))
		return error_set(err, ERR_usage, "`--ws-max-clock-skew-seconds` must be a number of seconds");
	if (copy_name("--ws-issuer", options->issuer, &bearer->issuer, err) != 0 ||
	    copy_name("--ws-audience", options->audience, &bearer->audience, err) != 0 ||
	    read_secret(options->secret_file, &text, &secret, err) != 0)
		return -(int)err->code;
	if (secret.len < SECRET_MIN)
		return error_set(err, ERR_config, "signed websocket bearer secret %s must be at least %d bytes",
		                 options->secret_file, SECRET_MIN);
	bearer->secret = str_dup(secret);
	bearer->secret_len = secret.len;
	wipe(&text);
	return 0;
}

static const struct {
	const char *name;
	int (*open)(struct bearer *bearer, const struct bearer_options *options, struct error *err);
} modes[] = {
	{"capability-token", open_capability},
	{"signed-bearer-token", open_signed},
};

static int open_mode(struct bearer *bearer, const struct bearer_options *options, struct error *err)
{
	for (size_t i = 0; i < countof(modes); i++)
		if (str_is(str_of(options->mode), modes[i].name))
			return modes[i].open(bearer, options, err);
	return error_set(err, ERR_usage, "unknown mode `--ws-auth %s`: use `capability-token` or `signed-bearer-token`",
	                 options->mode);
}

static bool is_plain(const struct bearer_options *options)
{
	return !options->token_file && !options->token_sha256 && !options->secret_file && !options->issuer &&
	       !options->audience && !options->clock_skew_seconds;
}

int bearer_create(const struct bearer_options *options, struct bearer **ret, struct error *err)
{
	*ret = NULL;
	if (!options->mode && is_plain(options))
		return 0;
	if (!options->mode)
		return error_set(err, ERR_config,
		                 "websocket auth flags require `--ws-auth capability-token` or "
		                 "`--ws-auth signed-bearer-token`");
	struct bearer *bearer = xnew(struct bearer);
	int status = open_mode(bearer, options, err);
	if (status == 0)
		*ret = steal(bearer);
	bearer_destroy(bearer);
	return status;
}

void bearer_destroy(struct bearer *bearer)
{
	if (!bearer)
		return;
	if (bearer->secret)
		explicit_bzero(bearer->secret, bearer->secret_len);
	free(bearer->secret);
	free(bearer->issuer);
	free(bearer->audience);
	free(bearer);
}
