/* The answer of a token endpoint is untrusted: a token becomes part of a header. */
#include "oauth/oauth_token.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/oauth_pkce.h"
#include "oauth/oauth_limits.h"

/* Returns the header of a confidential client (RFC 6749, 2.3.1), or adds its secret to the form. */
static const char *authenticate(struct arena *arena, const struct oauth_client *client, struct buf *form)
{
	auto_buf struct buf pair, encoded;
	buf_init(&pair, LIMIT_OAUTH_FORM);
	buf_init(&encoded, LIMIT_OAUTH_FORM);
	oauth_append_field(form, "client_id", str_of(client->id));
	if (!client->secret)
		return NULL;
	if (client->sends_secret_in_body) {
		oauth_append_field(form, "client_secret", str_of(client->secret));
		return NULL;
	}
	oauth_append_field(&pair, "", str_of(client->id));
	size_t at = pair.len;
	oauth_append_field(&pair, "", str_of(client->secret));
	/* they were written as "=ID&=SECRET" */
	auto_free char *text = xasprintf("%.*s:%s", (int)(at - 1), pair.data + 1, pair.data + at + 2);
	text_base64(&encoded, text, strlen(text));
	return arena_printf(arena, "Authorization: Basic %.*s", (int)encoded.len, encoded.data);
}

static bool is_token(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
			return false;
	return text.len > 0 && text.len < LIMIT_OAUTH_FORM;
}

static int fail(const struct oauth_reply *answer, struct error *err)
{
	struct str code = json_get_str(answer->json, "error"), text = json_get_str(answer->json, "error_description");
	bool is_refused = answer->status >= 400 && answer->status < 500;
	return error_set(err, is_refused ? ERR_denied : ERR_http_status,
	                 "the token endpoint answered HTTP %d%s%.*s%s%.*s", answer->status, code.len ? ": " : "",
	                 (int)(code.len < 100 ? code.len : 100), code.len ? code.ptr : "", text.len ? ": " : "",
	                 (int)(text.len < 300 ? text.len : 300), text.len ? text.ptr : "");
}

int oauth_token_request(struct oauth_fetcher *fetcher, const char *endpoint, const struct oauth_client *client,
                        struct buf *form, struct oauth_credentials *to, struct error *err)
{
	struct oauth_reply answer;
	const char *basic = authenticate(fetcher->arena, client, form);
	const char *headers[] = {"Accept: application/json", "Content-Type: application/x-www-form-urlencoded", basic,
	                         NULL};
	if (!oauth_url_is_safe(str_of(endpoint)))
		return error_set(err, ERR_denied, "%s is not https, so no token is requested there", endpoint);
	if (oauth_fetch(fetcher, endpoint, headers, form->data, &answer, err) != 0)
		return error_wrap(err, "the token request failed");
	struct str token = json_get_str(answer.json, "access_token"), type = json_get_str(answer.json, "token_type");
	struct str refresh = json_get_str(answer.json, "refresh_token"), scope = json_get_str(answer.json, "scope");
	int64_t seconds = json_get_i64(answer.json, "expires_in", 0);
	if (answer.status != 200)
		return fail(&answer, err);
	if (!is_token(token) || (type.ptr && !str_equal_fold(type, STR("bearer"))))
		return error_set(err, ERR_invalid, "the token endpoint sent no bearer token");
	to->access_token = token;
	if (is_token(refresh))
		to->refresh_token = refresh;
	if (scope.len)
		to->scope = scope;
	to->client_id = str_of(client->id);
	to->client_secret = client->is_registered ? str_of(client->secret) : STR_NONE;
	to->sends_secret_in_body = client->sends_secret_in_body;
	to->expires_at_ms = 0;
	if (seconds > 0)
		to->expires_at_ms =
			clock_unix_ms() + (seconds < LIMIT_OAUTH_TOKEN_S ? seconds : LIMIT_OAUTH_TOKEN_S) * 1000;
	return 0;
}
