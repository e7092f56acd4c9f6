/* An entry lives as long as its client. It keeps the config whose settings its transport borrows. */
#include "mcp/mcp_pool.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/mcp_server.h"
#include "mcp/mcp_cache.h"
#include "mcp/mcp_client.h"
#include "mcp/mcp_http_auth.h"
#include "mcp/mcp_link_http.h"
#include "mcp/mcp_link_stdio.h"
#include "net/http_head.h"
#include "net/http_url.h"
#include "oauth/oauth_fetch.h"

struct mcp_pool {
	struct loop *loop;
	struct http_client *http;
	struct accounts *accounts;
	struct list entries;
	struct list ending; /* closed stdio links whose process has not ended */
};

struct pool_entry {
	struct list link;
	struct mcp_pool *pool;
	struct arena arena;
	struct config *config;
	struct mcp_server server; /* the settings */
	struct str key;           /* equal for equal settings */
	const char *cwd;
	const char *const *argv, *const *env; /* of a stdio server */
	struct mcp_client *client;
};

struct mcp_pool *mcp_pool_create(struct loop *loop, struct http_client *http, struct accounts *accounts)
{
	struct mcp_pool *pool = xnew(struct mcp_pool);
	pool->loop = loop;
	pool->http = http;
	pool->accounts = accounts;
	list_init(&pool->entries);
	list_init(&pool->ending);
	return pool;
}

void mcp_pool_destroy(struct mcp_pool *pool)
{
	if (!pool)
		return;
	mcp_link_stdio_kill_all(&pool->ending);
	free(pool);
}

static void entry_destroy(void *self)
{
	struct pool_entry *entry = self;
	list_remove(&entry->link);
	config_unref(entry->config);
	arena_finish(&entry->arena);
	free(entry);
}

/* ---- the environment of a stdio server ---- */

/* The variables that every server gets; others, such as keys and CODEX_HOME, only if its settings name them. */
static const char *const inherited[] = {
	"HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ",
};

static bool is_set_by(const struct config_pairs *pairs, struct str name)
{
	for (size_t i = 0; i < pairs->count; i++) {
		if (str_eq(pairs->items[i].key, name))
			return true;
	}
	return false;
}

static void make_env(struct pool_entry *entry)
{
	const struct config_pairs *own = &entry->server.keys.env;
	const struct config_strings *named = &entry->server.env_vars;
	const char **env = arena_array(&entry->arena, const char *, countof(inherited) + named->count + own->count + 1);
	size_t count = 0;
	for (size_t i = 0; i < countof(inherited) + named->count; i++) {
		struct str name = i < countof(inherited) ? str_of(inherited[i]) : named->items[i - countof(inherited)];
		const char *value = config_env(name.ptr);
		if (value && !is_set_by(own, name))
			env[count++] = arena_printf(&entry->arena, "%s=%s", name.ptr, value);
	}
	for (size_t i = 0; i < own->count; i++)
		env[count++] = arena_printf(&entry->arena, "%s=%s", own->items[i].key.ptr, own->items[i].value.ptr);
	entry->env = env;
}

static void make_argv(struct pool_entry *entry)
{
	const struct config_mcp_server *keys = &entry->server.keys;
	const char **argv = arena_array(&entry->arena, const char *, keys->args.count + 2);
	argv[0] = keys->command;
	for (size_t i = 0; i < keys->args.count; i++)
		argv[i + 1] = keys->args.items[i].ptr;
	entry->argv = argv;
}

/* ---- the headers for an HTTP server ---- */

/* Values are checked, since they may come from the environment. No message contains one. */
struct headers {
	const struct mcp_server *server;
	struct arena *arena;
	struct str *lines;
	size_t count;
	struct error *err;
};

static bool add_header(struct headers *headers, struct str name, struct str value)
{
	struct http_header header;
	value = str_trim(value);
	struct str line = str_of(arena_printf(headers->arena, "%.*s: %.*s", (int)name.len, name.ptr, (int)value.len,
	                                      value.ptr ? value.ptr : ""));
	if (!http_header_parse(line, &header)) {
		error_set(headers->err, ERR_config,
		          "the header `%.*s` of MCP server '%.*s' contains characters that are not allowed in headers",
		          STR_ARG(name), STR_ARG(headers->server->name));
		return false;
	}
	headers->lines[headers->count++] = line;
	return true;
}

static bool add_token(struct headers *headers, const char *variable)
{
	const char *value = variable ? config_env(variable) : NULL;
	if (!variable)
		return true;
	if (!value) {
		error_set(headers->err, ERR_config, "Environment variable %s for MCP server '%.*s' is not set",
		          variable, STR_ARG(headers->server->name));
		return false;
	}
	return add_header(headers, STR("Authorization"), str_of(arena_printf(headers->arena, "Bearer %s", value)));
}

static bool add_headers(struct headers *headers, const struct config_mcp_server *keys)
{
	if (!add_token(headers, keys->bearer_token_env_var))
		return false;
	for (size_t i = 0; i < keys->http_headers.count; i++)
		if (!add_header(headers, keys->http_headers.items[i].key, keys->http_headers.items[i].value))
			return false;
	for (size_t i = 0; i < keys->env_http_headers.count; i++) {
		const struct config_pair *pair = &keys->env_http_headers.items[i];
		const char *value = config_env(pair->value.ptr);
		if (value && !add_header(headers, pair->key, str_of(value)))
			return false;
	}
	return true;
}

/* Returns "Name: value" lines in the arena: the bearer token, http_headers and env_http_headers, whose variables are
 * read now; one that is not set is omitted. NULL and err: the variable of the token is not set, or a header cannot be
 * sent. */
static const struct str *make_headers(const struct mcp_server *server, struct arena *arena, size_t *ret_count,
                                      struct error *err)
{
	const struct config_mcp_server *keys = &server->keys;
	struct headers headers = {.server = server, .arena = arena, .err = err};
	headers.lines = arena_array(arena, struct str, 1 + keys->http_headers.count + keys->env_http_headers.count);
	if (!add_headers(&headers, keys))
		return NULL;
	*ret_count = headers.count;
	return headers.lines;
}

/* True if a server may get the token of `codex login`: it has the same origin as chatgpt_base_url. */
static bool is_of_account(const struct pool_entry *entry)
{
	struct http_url server, account;
	struct str url = str_of(entry->server.keys.url);
	return oauth_url_is_safe(url) && http_url_parse(url, &server) &&
	       http_url_parse(str_of(entry->config->chatgpt_base_url), &account) &&
	       server.is_https == account.is_https && str_equal_fold(server.host, account.host) &&
	       str_eq(server.port, account.port);
}

/* Returns NULL if the settings contain the authorization, or the server gets none. */
static struct mcp_http_auth *make_auth(struct pool_entry *entry, const struct str *headers, size_t count)
{
	const struct config_mcp_server *keys = &entry->server.keys;
	struct http_header header;
	for (size_t i = 0; i < count && !keys->http_headers_helper; i++)
		if (http_header_parse(headers[i], &header) && str_equal_fold(header.name, STR("authorization")))
			return NULL;
	bool is_chatgpt = keys->auth == mcp_auth_chatgpt && !keys->http_headers_helper;
	if (is_chatgpt && !is_of_account(entry))
		return NULL;
	const struct mcp_http_auth_options options = {
		.loop = entry->pool->loop,
		.home = config_home(entry->config),
		.name = entry->server.name.ptr,
		.url = keys->url,
		.helper = keys->http_headers_helper,
		.cwd = entry->cwd,
		.client_id = keys->oauth.client_id,
		.client_secret = keys->oauth.client_secret,
		.accounts = is_chatgpt ? entry->pool->accounts : NULL,
		.place = auth_place_of(entry->config),
	};
	return mcp_http_auth_create(&options);
}

/* ---- equal settings ---- */

static void write_words(struct json_writer *w, const char *const *words)
{
	jw_array(w);
	for (size_t i = 0; words && words[i]; i++)
		jw_cstr(w, words[i]);
	jw_array_end(w);
}

static void write_pairs(struct json_writer *w, const struct config_pairs *pairs)
{
	jw_array(w);
	for (size_t i = 0; i < pairs->count; i++) {
		jw_str(w, pairs->items[i].key);
		jw_str(w, pairs->items[i].value);
	}
	jw_array_end(w);
}

static void write_http(struct json_writer *w, const struct config_mcp_server *keys)
{
	jw_cstr(w, keys->url);
	jw_cstr(w, keys->bearer_token_env_var);
	jw_cstr(w, keys->bearer_token_env_var ? config_env(keys->bearer_token_env_var) : NULL);
	write_pairs(w, &keys->http_headers);
	write_pairs(w, &keys->env_http_headers);
	jw_cstr(w, keys->http_headers_helper);
	jw_i64(w, keys->auth);
}

static struct str make_key(struct pool_entry *entry)
{
	auto_buf struct buf key;
	buf_init(&key, LIMIT_SPAWN);
	struct json_writer w = json_writer(&key);
	jw_array(&w);
	jw_str(&w, entry->server.name);
	jw_u64(&w, entry->server.startup_timeout_ms);
	if (entry->server.transport == MCP_TRANSPORT_stdio) {
		jw_cstr(&w, entry->cwd);
		write_words(&w, entry->argv);
		write_words(&w, entry->env);
	} else {
		write_http(&w, &entry->server.keys);
	}
	jw_array_end(&w);
	return arena_str(&entry->arena, buf_str(&key));
}

static struct pool_entry *find_equal(const struct mcp_pool *pool, struct str key)
{
	struct pool_entry *it;
	list_for_each(it, &pool->entries, link) {
		if (str_eq(it->key, key))
			return it;
	}
	return NULL;
}

/* Finds the entry that was made for this very configuration, without writing a key. */
static struct pool_entry *find_made(const struct mcp_pool *pool, const struct config *config, struct str name,
                                    const char *cwd)
{
	struct pool_entry *it;
	list_for_each(it, &pool->entries, link) {
		if (it->config == config && str_eq(it->server.name, name) &&
		    (it->server.keys.cwd || strcmp(it->cwd, cwd) == 0))
			return it;
	}
	return NULL;
}

/* ---- clients ---- */

static struct mcp_link *open_link(void *self, const struct mcp_link_events *events, void *events_self,
                                  struct error *err)
{
	struct pool_entry *entry = self;
	if (entry->server.transport == MCP_TRANSPORT_stdio) {
		const struct mcp_stdio_spec spec = {
			.argv = entry->argv,
			.env = entry->env,
			.cwd = entry->cwd,
			.ending = &entry->pool->ending,
		};
		return mcp_link_stdio_open(entry->pool->loop, &spec, events, events_self, err);
	}
	size_t header_count;
	const struct str *headers = make_headers(&entry->server, &entry->arena, &header_count, err);
	if (!headers)
		return NULL;
	const struct mcp_http_spec spec = {
		.name = entry->server.name.ptr,
		.url = entry->server.keys.url,
		.headers = headers,
		.header_count = header_count,
		.auth = make_auth(entry, headers, header_count),
		.has_login = !entry->server.keys.http_headers_helper && entry->server.keys.auth == mcp_auth_oauth,
	};
	return mcp_link_http_open(entry->pool->loop, entry->pool->http, &spec, events, events_self, err);
}

static void on_catalog(void *self, const struct mcp_catalog *catalog)
{
	struct pool_entry *entry = self;
	mcp_cache_write(entry->pool->loop, config_home(entry->config), entry->key, catalog);
}

/* Fills the entry with its own copy of the settings. */
static int fill(struct pool_entry *entry, struct config *config, const struct mcp_server *server, const char *cwd,
                struct error *err)
{
	size_t count = 0;
	entry->config = config_ref(config);
	struct config_binder binder = config_binder(config, &entry->arena);
	const struct mcp_server *servers = mcp_servers_bind(&binder, config->mcp_servers, &count);
	for (size_t i = 0; i < count; i++) {
		if (str_eq(servers[i].name, server->name))
			entry->server = servers[i];
	}
	if (!entry->server.name.ptr)
		return error_set(err, ERR_not_found, "unknown MCP server '%.*s'", STR_ARG(server->name));
	entry->cwd = arena_cstr(&entry->arena, str_of(server->keys.cwd ? server->keys.cwd : cwd));
	if (entry->server.transport == MCP_TRANSPORT_stdio) {
		make_env(entry);
		make_argv(entry);
	}
	entry->key = make_key(entry);
	return 0;
}

const struct mcp_server *mcp_pool_find_settings(const struct mcp_pool *pool, const struct config *config,
                                                struct str name, const char *cwd)
{
	const struct pool_entry *entry = find_made(pool, config, name, cwd);
	return entry ? &entry->server : NULL;
}

struct mcp_client *mcp_pool_get(struct mcp_pool *pool, struct config *config, const struct mcp_server *server,
                                const char *cwd, struct error *err)
{
	struct pool_entry *entry, *equal = find_made(pool, config, server->name, cwd);
	if (equal)
		return mcp_client_ref(equal->client);
	entry = xnew(struct pool_entry);
	entry->pool = pool;
	list_init(&entry->link);
	if (mcp_server_check_place(server, err) != 0 || fill(entry, config, server, cwd, err) != 0) {
		entry_destroy(entry);
		return NULL;
	}
	if ((equal = find_equal(pool, entry->key))) {
		entry_destroy(entry);
		return mcp_client_ref(equal->client);
	}
	const struct mcp_client_options options = {
		.name = entry->server.name.ptr,
		.startup_timeout_ms = entry->server.startup_timeout_ms,
		.open = open_link,
		.on_catalog = on_catalog,
		.on_destroy = entry_destroy,
		.self = entry,
	};
	entry->client = mcp_client_create(pool->loop, &options, mcp_cache_read(config_home(config), entry->key));
	list_append(&pool->entries, &entry->link);
	return entry->client;
}

void mcp_pool_retry(struct mcp_pool *pool, struct str name)
{
	struct pool_entry *it;
	list_for_each(it, &pool->entries, link) {
		if (str_eq(it->server.name, name) && mcp_client_state(it->client) == MCP_FAILED)
			mcp_client_start(it->client);
	}
}
