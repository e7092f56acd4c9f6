/* The answer is untrusted: the account becomes a header of requests. */
#include "account/personal_token.h"

#include <string.h>

#include "account/account_limits.h"
#include "account/account_refresh.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "config/auth.h"
#include "config/config_env.h"
#include "net/http_head.h"

struct http_fetch *personal_token_ask(struct http_client *http, struct str token, http_fetch_fn on_done, void *self)
{
	const char *given = config_env("CODEX_AUTHAPI_BASE_URL");
	struct str base = given ? str_trim(str_of(given)) : STR(ACCOUNT_ISSUER "/api/accounts");
	while (str_has_suffix(base, "/"))
		base.len--;
	auto_free char *url = xasprintf("%.*s/v1/user-auth-credential/whoami", STR_ARG(base));
	char *header = xasprintf("Authorization: Bearer %.*s", STR_ARG(token));
	const struct str headers[] = {str_of(header)};
	struct http_fetch_request request = {
		.method = "GET",
		.url = url,
		.headers = headers,
		.header_count = 1,
		.max = LIMIT_ACCOUNT_ANSWER,
		.timeout_ms = LIMIT_ACCOUNT_ANSWER_MS,
	};
	struct http_fetch *fetch = http_fetch_start(http, &request, on_done, self);
	explicit_bzero(header, strlen(header));
	free(header);
	return fetch;
}

static void replace(char **text, struct str value)
{
	free(*text);
	*text = value.ptr ? str_dup(value) : NULL;
}

int personal_token_read(int status, struct str body, const struct error *transport, struct auth *auth,
                        struct error *err)
{
	auto_arena struct arena arena = {0};
	struct str account;
	if (transport)
		return error_set(err, transport->code, "failed to request personal access token metadata: %s",
		                 transport->text);
	if (status < 200 || status >= 300)
		return error_set(err, status == 401 || status == 403 ? ERR_denied : ERR_http_status,
		                 "personal access token metadata request failed with status %d %s", status,
		                 http_status_reason(status));
	const struct json *root = json_parse(&arena, body, NULL);
	if (!auth_check_key(json_get_str(root, "chatgpt_account_id"), &account))
		return error_set(err, ERR_transport,
		                 "failed to decode personal access token metadata: it names no account");
	replace(&auth->account_id, account);
	replace(&auth->plan, json_get_str(root, "chatgpt_plan_type"));
	replace(&auth->email, json_get_str(root, "email"));
	return 0;
}

/* ---- the owner ---- */

void personal_owner_find(const struct personal_owner *owner, struct auth *auth)
{
	uint8_t hash[SHA256_SIZE];
	if (auth->account_id || !owner->account)
		return;
	sha256(str_of(auth->access_token), hash);
	if (memcmp(hash, owner->hash, sizeof(hash)) == 0)
		auth->account_id = xstrdup(owner->account);
}

void personal_owner_keep(struct personal_owner *owner, const struct auth *auth)
{
	personal_owner_finish(owner);
	sha256(str_of(auth->access_token), owner->hash);
	owner->account = xstrdup(auth->account_id);
}

void personal_owner_finish(struct personal_owner *owner)
{
	free(owner->account);
	*owner = (struct personal_owner){0};
}
