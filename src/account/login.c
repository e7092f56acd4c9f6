/* The answers of the issuer are untrusted until they are checked: tokens must fit into a header, and an account is only
 * accepted if the configuration permits it. */
#include "account/login.h"

#include <string.h>

#include "account/account_limits.h"
#include "account/login_priv.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config_env.h"
#include "loop/lane.h"

/* ---- the end ---- */

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void login_destroy(struct login *login)
{
	oauth_listener_destroy(login->listener);
	loop_timer_destroy(login->timer);
	http_fetch_cancel(login->fetch);
	auth_finish(&login->auth);
	wipe(login->replaced);
	explicit_bzero(&login->pkce, sizeof(login->pkce));
	arena_finish(&login->arena);
	free(login);
}

void login_end(struct login *login, const struct error *err)
{
	login->events->on_done(err, login->self);
	login_destroy(login);
}

void login_cancel(struct login *login)
{
	if (!login)
		return;
	login->is_over = true;
	if (!login->is_storing)
		login_destroy(login);
}

static void on_timer(void *self)
{
	struct login *login = self;
	login->step(login);
}

void login_wait(struct login *login, uint64_t delay_ms, void (*step)(struct login *login))
{
	login->step = step;
	loop_timer_start(login->timer, delay_ms);
}

/* ---- requests to the issuer ---- */

void login_post(struct login *login, const char *path, bool is_form, struct str body, http_fetch_fn on_done)
{
	static const struct str form = {"Content-Type: application/x-www-form-urlencoded", 47};
	static const struct str json = {"Content-Type: application/json", 30};
	struct http_fetch_request request = {
		.method = "POST",
		.url = arena_printf(&login->arena, "%s%s", login->issuer, path),
		.headers = is_form ? &form : &json,
		.header_count = 1,
		.body = body,
		.max = LIMIT_ACCOUNT_ANSWER,
		.timeout_ms = LIMIT_ACCOUNT_ANSWER_MS,
	};
	login->fetch = http_fetch_start(login->options.http, &request, on_done, login);
}

/* Sets err to what an error answer of the issuer says. */
static void explain(int status, struct str body, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct json *root = json_parse(&arena, body, NULL);
	struct str text = json_get_str(root, "error_description");
	if (!text.len)
		json_to_str(json_path(root, "error.message"), &text);
	if (!text.len)
		text = json_get_str(root, "error");
	if (!text.len)
		text = str_trim(body);
	auto_buf struct buf line;
	buf_init(&line, ERROR_TEXT_MAX * 2);
	text_append_line(&line, str_n(text.ptr, text.len < 300 ? text.len : 300)); /* it is shown at a terminal */
	error_set(err, ERR_http_status, "token endpoint returned status %d: %.*s", status, STR_ARG(buf_str(&line)));
}

/* ---- storing ---- */

static void finish(struct login *login)
{
	if (login->listener)
		login_browser_show(login);
	else
		login_end(login, login->outcome.code ? &login->outcome : NULL);
}

static void on_revoked(int status, struct str body, const struct error *err, void *self)
{
	struct login *login = self;
	(void)status;
	(void)body;
	(void)err;
	login->fetch = NULL;
	finish(login);
}

static void on_store_work(void *self)
{
	struct login *login = self;
	auto_auth struct auth old = {0};
	auth_store_fetch(login->options.place);
	if (auth_read(login->options.place, &old, NULL) == 0 && old.kind == AUTH_chatgpt)
		login->replaced = steal(old.refresh_token);
	best_effort(auth_write(login->options.place, &login->auth, &login->outcome));
}

static void on_stored(void *self)
{
	struct login *login = self;
	login->is_storing = false;
	if (login->is_over)
		login_destroy(login);
	else if (login->outcome.code || !login->replaced || !login->replaced[0])
		finish(login);
	else
		login->fetch =
			login_revoke(login->options.http, login->client_id, str_of(login->replaced), on_revoked, login);
}

static void store(struct login *login)
{
	login->auth.kind = AUTH_chatgpt;
	login->auth.refreshed_ms = clock_unix_ms();
	login->is_storing = true;
	lane_run(login->options.loop, on_store_work, on_stored, login);
}

/* ---- tokens ---- */

static void on_key(int status, struct str body, const struct error *err, void *self)
{
	struct login *login = self;
	auto_arena struct arena arena = {0};
	struct str key;
	login->fetch = NULL;
	if (!err && status == 200 && auth_check_key(json_get_str(json_parse(&arena, body, NULL), "access_token"), &key))
		login->auth.api_key = str_dup(key);
	store(login);
}

/* Accounts of the platform also get an API key. It is not needed: a failure is ignored. */
static void exchange_key(struct login *login)
{
	struct buf form;
	buf_init(&form, LIMIT_AUTH_FILE);
	oauth_append_field(&form, "grant_type", STR("urn:ietf:params:oauth:grant-type:token-exchange"));
	oauth_append_field(&form, "client_id", str_of(login->client_id));
	oauth_append_field(&form, "requested_token", STR("openai-api-key"));
	oauth_append_field(&form, "subject_token", str_of(login->auth.id_token));
	oauth_append_field(&form, "subject_token_type", STR("urn:ietf:params:oauth:token-type:id_token"));
	login_post(login, "/oauth/token", true, buf_str(&form), on_key);
	explicit_bzero(form.data, form.len);
	buf_finish(&form);
}

static char *take(const struct json *root, const char *name)
{
	struct str value;
	return auth_check_key(json_get_str(root, name), &value) ? str_dup(value) : NULL;
}

static bool read_tokens(struct login *login, int status, struct str body, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct json *root = json_parse(&arena, body, NULL);
	struct id_claims claims;
	if (status < 200 || status >= 300) {
		explain(status, body, err);
		return false;
	}
	login->auth.id_token = take(root, "id_token");
	login->auth.access_token = take(root, "access_token");
	login->auth.refresh_token = take(root, "refresh_token");
	if (!login->auth.id_token || !login->auth.access_token || !login->auth.refresh_token ||
	    !auth_read_claims(&arena, str_of(login->auth.id_token), &claims)) {
		error_set(err, ERR_transport,
		          "the issuer's answer lacks a valid id_token, access_token or refresh_token");
		return false;
	}
	struct str account;
	if (auth_check_key(claims.account_id, &account))
		login->auth.account_id = str_dup(account);
	return !login->options.config ||
	       auth_allows_workspace(&login->options.config->forced_chatgpt_workspace_id, login->auth.account_id, err);
}

static void on_tokens(int status, struct str body, const struct error *transport, void *self)
{
	struct login *login = self;
	login->fetch = NULL;
	if (transport)
		login->outcome = *transport;
	else if (read_tokens(login, status, body, &login->outcome))
		login->outcome = (struct error){0};
	if (login->outcome.code)
		finish(login);
	else if (login->options.is_device)
		store(login);
	else
		exchange_key(login);
}

void login_redeem(struct login *login, struct str code, struct str verifier)
{
	struct buf form;
	buf_init(&form, LIMIT_AUTH_FILE);
	oauth_append_field(&form, "grant_type", STR("authorization_code"));
	oauth_append_field(&form, "code", code);
	oauth_append_field(&form, "redirect_uri", str_of(login->redirect));
	oauth_append_field(&form, "client_id", str_of(login->client_id));
	oauth_append_field(&form, "code_verifier", verifier);
	login_post(login, "/oauth/token", true, buf_str(&form), on_tokens);
	explicit_bzero(form.data, form.len);
	buf_finish(&form);
}

/* ---- the start ---- */

struct login *login_start(const struct login_options *options, const struct login_events *events, void *self)
{
	struct login *login = xnew(struct login);
	struct str issuer = str_of(options->issuer ? options->issuer : ACCOUNT_ISSUER);
	while (str_has_suffix(issuer, "/"))
		issuer.len--;
	login->options = *options;
	login->events = events;
	login->self = self;
	login->issuer = arena_cstr(&login->arena, issuer);
	login->client_id =
		arena_cstr(&login->arena, str_of(options->client_id ? options->client_id : ACCOUNT_CLIENT_ID));
	login->options.place.home = arena_cstr(&login->arena, str_of(options->place.home));
	login->options.originator = arena_cstr(&login->arena, str_of(options->originator));
	login->timer = loop_timer_create(options->loop, on_timer, login);
	oauth_pkce_init(&login->pkce);
	login_wait(login, 0, options->is_device ? login_device_start : login_browser_start);
	return login;
}

/* ---- revoking ---- */

struct http_fetch *login_revoke(struct http_client *http, const char *client_id, struct str refresh_token,
                                http_fetch_fn on_done, void *self)
{
	static const struct str header = {"Content-Type: application/json", 30};
	const char *url = config_env("CODEX_REVOKE_TOKEN_URL_OVERRIDE");
	struct buf body;
	buf_init(&body, LIMIT_AUTH_FILE);
	struct json_writer w = json_writer(&body);
	jw_object(&w);
	jw_member_str(&w, "token", refresh_token);
	jw_member_cstr(&w, "token_type_hint", "refresh_token");
	jw_member_cstr(&w, "client_id", client_id ? client_id : ACCOUNT_CLIENT_ID);
	jw_object_end(&w);
	struct http_fetch_request request = {
		.method = "POST",
		.url = url ? url : ACCOUNT_ISSUER "/oauth/revoke",
		.headers = &header,
		.header_count = 1,
		.body = buf_str(&body),
		.max = LIMIT_ACCOUNT_ANSWER,
		.timeout_ms = LIMIT_ACCOUNT_REVOKE_MS,
		.is_farewell = true,
	};
	struct http_fetch *fetch = http_fetch_start(http, &request, on_done, self);
	explicit_bzero(body.data, body.len);
	buf_finish(&body);
	return fetch;
}
