/* All changes are made under the lock of CODEX_HOME, on the text that is there then. */
#include "oauth/oauth_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/sha.h"
#include "config/config_file.h"
#include "config/mcp_server.h"
#include "oauth/oauth_limits.h"

enum { STORE_MODE = 0600, KEY_HEX = 16 };

static char *file_of(const char *home)
{
	return path_join(home, ".credentials.json");
}

/* The key of codex 0.169: "NAME|" and the beginning of a hash of the transport. */
static struct str key_of(struct arena *arena, struct str name, struct str url)
{
	char hex[SHA256_TEXT_SIZE];
	auto_buf struct buf text;
	buf_init(&text, LIMIT_OAUTH_STORE);
	struct json_writer w = json_writer(&text);
	jw_object(&w);
	jw_member_cstr(&w, "type", "http");
	jw_member_str(&w, "url", url);
	jw_member_raw(&w, "headers", STR("{}"));
	jw_object_end(&w);
	sha256_text(buf_str(&text), hex);
	return str_of(arena_printf(arena, "%.*s|%.*s", STR_ARG(name), KEY_HEX, hex));
}

/* Returns the object of the file, NULL without err->code if the file does not exist. */
static const struct json *read_all(const char *home, struct arena *arena, struct error *err)
{
	auto_buf struct buf text;
	auto_free char *path = file_of(home);
	struct error failure = {0};
	buf_init(&text, LIMIT_OAUTH_STORE);
	*err = (struct error){0};
	if (file_read_regular(path, &text, &failure) != 0) {
		if (failure.code != ERR_not_found)
			*err = failure;
		return NULL;
	}
	const struct json *json = json_parse_copy(arena, buf_str(&text), &failure);
	if (json_is(json, JSON_object))
		return json;
	error_set(err, ERR_invalid, "%s does not contain a JSON object; remove it to log in again", path);
	return NULL;
}

static const struct json *find(const struct json *all, struct str key)
{
	json_for_each(it, all) {
		if (str_eq(it->key, key))
			return it;
	}
	return NULL;
}

static struct str text_of(const struct json *json, const char *key)
{
	struct str text = json_get_str(json, key);
	return text.len && !str_has_nul(text) ? text : STR_NONE;
}

static struct str read_scope(const struct json *list, struct arena *arena)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_OAUTH_STORE);
	json_for_each(it, json_is(list, JSON_array) ? list : NULL)
		buf_printf(&out, "%s%.*s", out.len ? " " : "", (int)it->text.len, it->text.ptr);
	return out.len ? arena_str(arena, buf_str(&out)) : STR_NONE;
}

int oauth_store_read(const char *home, struct str name, struct str url, struct arena *arena,
                     struct oauth_credentials *ret, bool *ret_is_found, struct error *err)
{
	struct error failure;
	const struct json *all = read_all(home, arena, &failure);
	const struct json *json = find(all, key_of(arena, name, url));
	*ret_is_found = false;
	if (failure.code != ERR_none)
		return error_set(err, failure.code, "%s", failure.text);
	*ret = (struct oauth_credentials){
		.server_name = name,
		.server_url = url,
		.client_id = text_of(json, "client_id"),
		.access_token = text_of(json, "access_token"),
		.issuer = text_of(json, "issuer"),
		.refresh_token = text_of(json, "refresh_token"),
		.token_endpoint = text_of(json, "token_endpoint"),
		.scope = read_scope(json_get(json, "scopes"), arena),
		.resource = text_of(json, "resource"),
		.client_secret = text_of(json, "client_secret"),
		.sends_secret_in_body = json_get_bool(json, "client_secret_post", false),
		.expires_at_ms = json_get_i64(json, "expires_at", 0),
	};
	*ret_is_found = ret->access_token.ptr != NULL;
	return 0;
}

static void write_optional(struct json_writer *w, const char *key, struct str value)
{
	if (value.ptr)
		jw_member_str(w, key, value);
}

static void write_one(struct json_writer *w, const struct oauth_credentials *credentials)
{
	struct str rest = credentials->scope, scope;
	jw_object(w);
	jw_member_str(w, "server_name", credentials->server_name);
	jw_member_str(w, "server_url", credentials->server_url);
	write_optional(w, "issuer", credentials->issuer);
	jw_member_str(w, "client_id", credentials->client_id);
	jw_member_str(w, "access_token", credentials->access_token);
	if (credentials->expires_at_ms)
		jw_member_i64(w, "expires_at", credentials->expires_at_ms);
	write_optional(w, "refresh_token", credentials->refresh_token);
	write_optional(w, "token_endpoint", credentials->token_endpoint);
	write_optional(w, "resource", credentials->resource);
	write_optional(w, "client_secret", credentials->client_secret);
	if (credentials->sends_secret_in_body)
		jw_member_bool(w, "client_secret_post", true);
	jw_key(w, "scopes");
	jw_array(w);
	while (str_next_part(&rest, ' ', &scope))
		if (scope.len)
			jw_str(w, scope);
	jw_array_end(w);
	jw_object_end(w);
}

/* Writes the file with this entry replaced, or removed if credentials is NULL. */
static int write_all(const char *home, const struct json *all, struct str key,
                     const struct oauth_credentials *credentials, struct error *err)
{
	auto_buf struct buf text;
	auto_free char *path = file_of(home);
	size_t count = 0;
	buf_init(&text, LIMIT_OAUTH_STORE);
	struct json_writer w = json_writer(&text);
	jw_object(&w);
	json_for_each(it, all) {
		if (str_eq(it->key, key))
			continue;
		jw_key_str(&w, it->key);
		jw_value(&w, it);
		count++;
	}
	if (credentials) {
		jw_key_str(&w, key);
		write_one(&w, credentials);
		count++;
	}
	jw_object_end(&w);
	if (text.over)
		return error_set(err, ERR_limit, "%s would exceed %d MiB", path, LIMIT_OAUTH_STORE / MIB);
	if (!count)
		return unlink(path) == 0 || errno == ENOENT ? 0 : error_sys(err, errno, "cannot remove %s", path);
	int status = file_write_atomic(path, buf_str(&text), STORE_MODE, true, err);
	explicit_bzero(text.data, text.len);
	return status;
}

static int change(const char *home, struct str name, struct str url, const struct oauth_credentials *credentials,
                  bool *ret_was_there, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct error failure;
	if (dir_make(home, 0700, err) != 0)
		return -(int)err->code;
	auto_close int lock = config_file_lock(home, err);
	if (lock < 0)
		return -(int)err->code;
	struct str key = key_of(&arena, name, url);
	const struct json *all = read_all(home, &arena, &failure);
	if (failure.code != ERR_none)
		return error_set(err, failure.code, "%s", failure.text);
	*ret_was_there = find(all, key) != NULL;
	if (!credentials && !*ret_was_there)
		return 0;
	return write_all(home, all, key, credentials, err);
}

int oauth_store_write(const char *home, const struct oauth_credentials *credentials, struct error *err)
{
	bool was_there;
	return change(home, credentials->server_name, credentials->server_url, credentials, &was_there, err);
}

int oauth_store_remove(const char *home, struct str name, struct str url, bool *ret_was_there, struct error *err)
{
	return change(home, name, url, NULL, ret_was_there, err);
}

/* ---- the status ---- */

static bool names_authorization(const struct config_pairs *headers)
{
	for (size_t i = 0; i < headers->count; i++)
		if (str_equal_fold(headers->items[i].key, STR("authorization")))
			return true;
	return false;
}

static bool has_login(const struct mcp_server *server, const char *home)
{
	auto_arena struct arena arena = {0};
	struct oauth_credentials credentials;
	bool is_found = false;
	best_effort(
		oauth_store_read(home, server->name, str_of(server->keys.url), &arena, &credentials, &is_found, NULL));
	return is_found;
}

enum oauth_status oauth_status_of(const struct mcp_server *server, const char *home)
{
	const struct config_mcp_server *keys = &server->keys;
	if (server->transport == MCP_TRANSPORT_stdio)
		return OAUTH_STATUS_unsupported;
	if (keys->bearer_token_env_var || keys->http_headers_helper || names_authorization(&keys->http_headers) ||
	    names_authorization(&keys->env_http_headers))
		return OAUTH_STATUS_bearer_token;
	return has_login(server, home) ? OAUTH_STATUS_o_auth : OAUTH_STATUS_unknown;
}

const char *oauth_status_name(enum oauth_status status)
{
	static const char *const names[] = {
		[OAUTH_STATUS_unsupported] = "unsupported", [OAUTH_STATUS_bearer_token] = "bearer_token",
		[OAUTH_STATUS_o_auth] = "o_auth",           [OAUTH_STATUS_not_logged_in] = "not_logged_in",
		[OAUTH_STATUS_unknown] = "unknown",
	};
	return names[status];
}
