/* The answer is untrusted until its tokens have been checked: an issuer, or a proxy in its place, may send anything. */
#include "account/account_refresh.h"

#include "account/account_limits.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"

static const int64_t UNKNOWN_EXPIRY_MS = 8LL * 24 * 3600 * 1000;

static int64_t expiry_ms(const struct auth *auth)
{
	int64_t seconds = auth->access_token ? auth_token_expiry(str_of(auth->access_token)) : -1;
	return seconds >= 0 && seconds < INT64_MAX / 1000 ? seconds * 1000 : -1;
}

bool account_is_stale(const struct auth *auth, int64_t now_ms)
{
	int64_t expiry = expiry_ms(auth);
	if (!auth->access_token)
		return true;
	return expiry >= 0 ? expiry - now_ms <= LIMIT_ACCOUNT_EARLY_MS
	                   : now_ms - auth->refreshed_ms > UNKNOWN_EXPIRY_MS;
}

bool account_is_alive(const struct auth *auth, int64_t now_ms)
{
	int64_t expiry = expiry_ms(auth);
	return auth->access_token && (expiry < 0 || expiry > now_ms);
}

void account_refresh_write(struct buf *out, const struct auth *auth, bool is_refused)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "client_id", ACCOUNT_CLIENT_ID);
	jw_member_cstr(&w, "grant_type", "refresh_token");
	jw_member_cstr(&w, "refresh_token", auth->refresh_token);
	jw_member_cstr(&w, "refresh_reason", is_refused ? "unauthorized_recovery" : "proactive_expiry");
	jw_object_end(&w);
}

/* Replaces a token if the answer contains one that can be sent. False if it contains one that cannot. */
static bool take(const struct json *root, const char *name, char **token)
{
	struct str value = json_get_str(root, name);
	if (!value.len)
		return true;
	if (!auth_check_key(value, &value))
		return false;
	if (*token)
		explicit_bzero(*token, strlen(*token));
	free(*token);
	*token = str_dup(value);
	return true;
}

/* True unless the answer has an id token of another account. */
static bool is_same_account(const struct json *root, const struct auth *auth)
{
	auto_arena struct arena arena = {0};
	struct id_claims claims;
	struct str id = json_get_str(root, "id_token");
	bool has_account = id.len && auth->account_id && auth_read_claims(&arena, id, &claims) && claims.account_id.len;
	return !has_account || str_is(claims.account_id, auth->account_id);
}

static enum account_refresh_outcome read_tokens(const struct json *root, struct auth *auth, int64_t now_ms,
                                                struct error *err)
{
	if (!is_same_account(root, auth)) {
		error_set(err, ERR_transport, "the issuer's answer is for another account");
		return ACCOUNT_FAILED;
	}
	if (!json_get_str(root, "access_token").len || !take(root, "id_token", &auth->id_token) ||
	    !take(root, "access_token", &auth->access_token) || !take(root, "refresh_token", &auth->refresh_token)) {
		error_set(err, ERR_transport, "the issuer's answer has no access token that can be sent");
		return ACCOUNT_FAILED;
	}
	auth->refreshed_ms = now_ms;
	return ACCOUNT_REFRESHED;
}

static struct str find_code(const struct json *root)
{
	struct str code = STR_NONE;
	if (json_to_str(json_path(root, "error.code"), &code) || json_to_str(json_get(root, "error"), &code))
		return code;
	return json_get_str(root, "code");
}

static enum account_refresh_outcome read_refusal(int status, const struct json *root, struct error *err)
{
	static const struct {
		const char *code, *why;
	} refusals[] = {
		{"refresh_token_expired", " because your refresh token has expired"},
		{"refresh_token_reused", " because your refresh token was already used"},
		{"refresh_token_invalidated", " because your refresh token was revoked"},
	};
	struct str code = find_code(root);
	const char *why = NULL;
	for (size_t i = 0; i < countof(refusals); i++)
		if (str_is(code, refusals[i].code))
			why = refusals[i].why;
	if (!why && status != 401) {
		error_set(err, ERR_http_status, "the issuer answered the refresh of the login with status %d", status);
		return ACCOUNT_FAILED;
	}
	error_set(err, ERR_denied, "Your access token could not be refreshed%s. Please log out and sign in again.",
	          why ? why : "");
	return ACCOUNT_REFUSED;
}

enum account_refresh_outcome account_refresh_read(int status, struct str body, struct auth *auth, int64_t now_ms,
                                                  struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct json *root = json_parse(&arena, body, NULL);
	if (status >= 200 && status < 300)
		return read_tokens(root, auth, now_ms, err);
	return read_refusal(status, root, err);
}
