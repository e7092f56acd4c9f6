/* One step after the other: metadata, client, redirect, token. */
#include "oauth/oauth_login.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/sha.h"
#include "base/text.h"
#include "config/config.h"
#include "loop/loop.h"
#include "net/http_url.h"
#include "net/oauth_listener.h"
#include "net/oauth_pkce.h"
#include "oauth/oauth_limits.h"
#include "oauth/oauth_metadata.h"
#include "oauth/oauth_token.h"

enum { PATH_ID = 12 };

struct oauth_login {
	struct oauth_login_options options;
	struct arena arena;
	struct oauth_fetcher fetcher;
	struct oauth_metadata metadata;
	struct oauth_client client;
	struct oauth_pkce pkce;
	const char *resource, *redirect, *scope;
	struct oauth_listener *listener;
	const char *code;
	struct loop_timer *timer;
	struct error *err;
};

static const char *hash_text(struct oauth_login *login, const char *text)
{
	uint8_t hash[SHA256_SIZE];
	auto_buf struct buf out;
	buf_init(&out, KIB);
	sha256(str_of(text), hash);
	text_base64url(&out, hash, sizeof(hash));
	return arena_cstr(&login->arena, buf_str(&out));
}

/* ---- the callback ---- */

/* Returns the code of a redirect, or NULL and err. */
static const char *judge(struct oauth_login *login, const struct oauth_answer *answer, struct error *err)
{
	const char *issuer = login->metadata.issuer;
	struct str error = answer->error, text = answer->description;
	bool is_issuer = answer->issuer.ptr && issuer && str_is(answer->issuer, issuer);
	if ((answer->issuer.ptr && issuer && !is_issuer) || (login->metadata.sends_issuer && !is_issuer))
		error_set(err, ERR_denied, "the redirect is from another authorization server than the login");
	else if (error.len)
		error_set(err, ERR_denied, "%.*s%s%.*s",
		          (int)(error.len < LIMIT_OAUTH_REASON ? error.len : LIMIT_OAUTH_REASON), error.ptr,
		          text.len ? ": " : "", (int)(text.len < LIMIT_OAUTH_REASON ? text.len : LIMIT_OAUTH_REASON),
		          text.len ? text.ptr : "");
	else if (!answer->code.len || str_has_nul(answer->code))
		error_set(err, ERR_invalid, "the redirect has neither a code nor an error");
	else
		return arena_cstr(&login->arena, answer->code);
	return NULL;
}

static void on_answer(const struct oauth_answer *answer, void *self)
{
	struct oauth_login *login = self;
	loop_timer_stop(login->timer);
	login->code = judge(login, answer, login->err);
	if (login->code)
		oauth_listener_show(login->listener, "Authentication complete", STR("You may close this window."));
	else
		oauth_listener_show(login->listener, "The login has failed", STR("You may close this window."));
}

static void on_cancel(void *self)
{
	struct oauth_login *login = self;
	error_set(login->err, ERR_cancelled, "the login was cancelled: another one has taken its place");
	loop_stop(login->fetcher.loop);
}

static void on_shown(void *self)
{
	struct oauth_login *login = self;
	loop_stop(login->fetcher.loop);
}

/* Listens at the configured redirect URL, as far as that is on this machine. */
static int open_listener(struct oauth_login *login)
{
	static const struct oauth_listener_events events = {on_answer, on_cancel, on_shown};
	const struct config_mcp_oauth *own = &login->options.server->keys.oauth;
	const struct config *config = login->options.config;
	const char *text = own->callback_url ? own->callback_url : config->mcp_oauth_callback_url;
	int64_t port = own->callback_port ? own->callback_port : config->mcp_oauth_callback_port;
	uint64_t url_port = 0;
	struct http_url url;
	const char *path = arena_printf(&login->arena, "/callback/%.*s", PATH_ID,
	                                hash_text(login, login->options.server->keys.url));
	if (text && !http_url_parse(str_of(text), &url))
		return error_set(login->err, ERR_config, "the callback URL must begin with http:// or https://");
	if (text)
		path = url.path.len ? arena_cstr(&login->arena, url.path) : "/";
	if (text && !port && !url.is_https && str_to_u64(url.port, &url_port) && url_port <= UINT16_MAX)
		port = (int64_t)url_port;
	const struct oauth_listener_options options = {(uint16_t)port, path, login->pkce.state};
	login->listener = oauth_listener_create(login->fetcher.loop, &options, &events, login, login->err);
	if (!login->listener)
		return -(int)login->err->code;
	login->redirect =
		text ? text
		     : arena_printf(&login->arena, "http://127.0.0.1:%d%s", oauth_listener_port(login->listener), path);
	return 0;
}

/* ---- the client ---- */

static void write_registration(struct oauth_login *login, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "client_name", "Codex");
	jw_key(w, "redirect_uris");
	jw_array(w);
	jw_cstr(w, login->redirect);
	jw_array_end(w);
	jw_member_raw(w, "grant_types", STR("[\"authorization_code\",\"refresh_token\"]"));
	jw_member_cstr(w, "token_endpoint_auth_method", "none");
	jw_member_raw(w, "response_types", STR("[\"code\"]"));
	if (login->scope)
		jw_member_cstr(w, "scope", login->scope);
	jw_member_cstr(w, "application_type", "native");
	jw_object_end(w);
}

static int fail_registration(struct oauth_login *login, const char *why)
{
	return error_set(login->err, ERR_denied,
	                 "Registration failed: Dynamic registration failed: %s; set client_id in "
	                 "[mcp_servers.%.*s.oauth] if the server's operator has registered a client",
	                 why, STR_ARG(login->options.server->name));
}

static int register_client(struct oauth_login *login)
{
	static const char *const headers[] = {"Accept: application/json", "Content-Type: application/json", NULL};
	struct oauth_reply answer;
	auto_buf struct buf body;
	buf_init(&body, LIMIT_OAUTH_FORM);
	if (!login->metadata.registration_endpoint)
		return fail_registration(login, "the authorization server offers none");
	struct json_writer w = json_writer(&body);
	write_registration(login, &w);
	if (oauth_fetch(&login->fetcher, login->metadata.registration_endpoint, headers, body.data, &answer,
	                login->err) != 0)
		return error_wrap(login->err, "Registration failed: Dynamic registration failed");
	struct str id = json_get_str(answer.json, "client_id"), secret = json_get_str(answer.json, "client_secret");
	if (answer.status >= 300)
		return fail_registration(login, arena_printf(&login->arena, "HTTP %d", answer.status));
	if (!id.len || str_has_nul(id) || str_has_nul(secret))
		return fail_registration(login, "the answer has no client_id");
	login->client.id = arena_cstr(&login->arena, id);
	login->client.secret = secret.len ? arena_cstr(&login->arena, secret) : NULL;
	login->client.is_registered = true;
	return 0;
}

static int find_client(struct oauth_login *login)
{
	const struct config_mcp_oauth *own = &login->options.server->keys.oauth;
	enum oauth_client_auth way = own->token_endpoint_auth_method;
	login->client.sends_secret_in_body = way == oauth_client_auth_client_secret_post ||
	                                     (way == oauth_client_auth_unset && login->metadata.wants_secret_in_body);
	enum oauth_registration kind = login->options.registration;
	if (kind == OAUTH_REGISTRATION_cimd && (!own->client_id || !str_has_prefix(str_of(own->client_id), "https://")))
		return error_set(login->err, ERR_config,
		                 "a client ID metadata document is needed: set client_id in [mcp_servers.%.*s.oauth] "
		                 "to its https:// URL",
		                 STR_ARG(login->options.server->name));
	if (!own->client_id || kind == OAUTH_REGISTRATION_dcr)
		return register_client(login);
	login->client.id = own->client_id;
	login->client.secret = way == oauth_client_auth_none ? NULL : own->client_secret;
	return 0;
}

/* ---- the user ---- */

static void on_timeout(void *self)
{
	struct oauth_login *login = self;
	error_set(login->err, ERR_timeout, "timed out waiting for the login in the browser");
	loop_stop(login->fetcher.loop);
}

static int ask_user(struct oauth_login *login)
{
	auto_buf struct buf query;
	buf_init(&query, LIMIT_OAUTH_FORM);
	oauth_append_field(&query, "response_type", STR("code"));
	oauth_append_field(&query, "client_id", str_of(login->client.id));
	oauth_append_field(&query, "state", str_of(login->pkce.state));
	oauth_append_field(&query, "code_challenge", str_of(login->pkce.challenge));
	oauth_append_field(&query, "code_challenge_method", STR("S256"));
	oauth_append_field(&query, "redirect_uri", str_of(login->redirect));
	if (login->scope)
		oauth_append_field(&query, "scope", str_of(login->scope));
	oauth_append_field(&query, "resource", str_of(login->resource));
	const char *endpoint = login->metadata.authorization_endpoint;
	login->options.on_url(
		arena_printf(&login->arena, "%s%c%s", endpoint, strchr(endpoint, '?') ? '&' : '?', query.data),
		login->options.self);
	loop_timer_start(login->timer, login->options.timeout_ms);
	if (oauth_fetcher_wait(&login->fetcher, login->err) != 0)
		return -(int)login->err->code;
	return login->code ? 0 : -(int)login->err->code;
}

/* ---- the token ---- */

static int get_token(struct oauth_login *login)
{
	const struct mcp_server *server = login->options.server;
	struct oauth_credentials credentials = {
		.server_name = server->name,
		.server_url = str_of(server->keys.url),
		.issuer = str_of(login->metadata.issuer),
		.token_endpoint = str_of(login->metadata.token_endpoint),
		.scope = str_of(login->scope),
		.refresh_token = STR_NONE,
		.resource = str_of(login->resource),
		.client_secret = STR_NONE,
	};
	auto_buf struct buf form;
	buf_init(&form, LIMIT_OAUTH_FORM);
	oauth_append_field(&form, "grant_type", STR("authorization_code"));
	oauth_append_field(&form, "code", str_of(login->code));
	oauth_append_field(&form, "code_verifier", str_of(login->pkce.verifier));
	oauth_append_field(&form, "redirect_uri", str_of(login->redirect));
	oauth_append_field(&form, "resource", str_of(login->resource));
	if (oauth_token_request(&login->fetcher, login->metadata.token_endpoint, &login->client, &form, &credentials,
	                        login->err) != 0)
		return -(int)login->err->code;
	return oauth_store_write(config_home(login->options.config), &credentials, login->err);
}

static const char *choose_scope(struct oauth_login *login)
{
	const struct config_strings *own = &login->options.server->keys.scopes;
	auto_buf struct buf out;
	buf_init(&out, LIMIT_OAUTH_FORM);
	if (login->options.scope)
		return login->options.scope;
	for (size_t i = 0; i < own->count; i++)
		buf_printf(&out, "%s%.*s", i ? " " : "", STR_ARG(own->items[i]));
	if (out.len)
		return arena_cstr(&login->arena, buf_str(&out));
	return login->metadata.scope.ptr ? arena_cstr(&login->arena, login->metadata.scope) : NULL;
}

static const char *choose_resource(const struct oauth_login *login)
{
	const struct config_mcp_server *keys = &login->options.server->keys;
	if (keys->oauth_resource)
		return keys->oauth_resource;
	return login->metadata.resource ? login->metadata.resource : keys->url;
}

int oauth_login_run(struct oauth_login *login, struct error *err)
{
	const struct config_mcp_server *keys = &login->options.server->keys;
	login->err = err;
	if (oauth_metadata_find(&login->fetcher, keys->url, keys->oauth.authorization_server_issuer, &login->metadata,
	                        err) != 0)
		return -(int)err->code;
	login->scope = choose_scope(login);
	login->resource = choose_resource(login);
	if (open_listener(login) != 0 || find_client(login) != 0 || ask_user(login) != 0)
		return -(int)err->code;
	oauth_listener_destroy(steal(login->listener));
	return get_token(login);
}

/* ---- lifetime ---- */

struct oauth_login *oauth_login_create(const struct oauth_login_options *options, struct error *err)
{
	if (options->config->mcp_oauth_credentials_store == mcp_credentials_store_keyring) {
		error_set(err, ERR_unsupported,
		          "logins of MCP servers are not stored in a keyring: set mcp_oauth_credentials_store to "
		          "\"file\" to store logins in .credentials.json in CODEX_HOME");
		return NULL;
	}
	struct oauth_login *login = xnew(struct oauth_login);
	login->options = *options;
	if (oauth_fetcher_init(&login->fetcher, &login->arena, err) != 0) {
		free(login);
		return NULL;
	}
	oauth_pkce_init(&login->pkce);
	login->timer = loop_timer_create(login->fetcher.loop, on_timeout, login);
	return login;
}

void oauth_login_stop(struct oauth_login *login)
{
	oauth_fetcher_stop(&login->fetcher);
}

void oauth_login_destroy(struct oauth_login *login)
{
	if (!login)
		return;
	loop_timer_destroy(login->timer);
	oauth_listener_destroy(login->listener);
	oauth_fetcher_finish(&login->fetcher);
	explicit_bzero(&login->pkce, sizeof(login->pkce));
	arena_finish(&login->arena);
	free(login);
}
