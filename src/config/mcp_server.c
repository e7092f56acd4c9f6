/* The types of the keys are checked by their rows in config.def. The rest depends on the kind of server: the rows of
 * mcp_server.def. */
#include "config/mcp_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"

static const struct {
	const char *name, *key;
} transports[MCP_TRANSPORT_count] = {
#define TRANSPORT(kind, name, key) {name, #key},
#include "config/mcp_server.def"
};

static const struct {
	enum mcp_transport transport;
	const char *key;
} only[] = {
#define ONLY(kind, key) {MCP_TRANSPORT_##kind, #key},
#include "config/mcp_server.def"
};

const char *mcp_transport_name(enum mcp_transport transport)
{
	return transports[transport].name;
}

/* node: the table of the server, or one of its values. */
static int fail(const struct toml *server, const struct toml *node, struct error *err, const char *text,
                const char *transport)
{
	char where[CONFIG_PLACE_SIZE], shown[TOML_KEY_SHOWN];
	return error_set(err, ERR_config, "%s: `mcp_servers.%s`: %s%s", config_place(node, where),
	                 toml_key_shown(server->key, shown), text, transport);
}

static int fail_key(const struct toml *server, const struct toml *node, struct error *err, enum mcp_transport transport)
{
	char text[TOML_KEY_SHOWN + 32], shown[TOML_KEY_SHOWN];
	snprintf(text, sizeof(text), "%s is not supported for ", toml_key_shown(node->key, shown));
	return fail(server, node, err, text, mcp_transport_name(transport));
}

static bool is_variable(const struct toml *node)
{
	const struct toml *name = node->kind == TOML_table ? toml_get(node, "name") : node;
	const struct toml *source = toml_get(node, "source");
	return toml_is(name, TOML_string) && name->text.len && !str_has_nul(name->text) &&
	       (!source || (toml_is(source, TOML_string) && str_is(source->text, "local")));
}

static int check_env_vars(const struct toml *server, const struct toml *list, struct error *err)
{
	static const char expected[] = "env_vars must be a list of names, or of tables with `name` and "
				       "`source = \"local\"`";
	if (list->kind != TOML_array)
		return fail(server, list, err, expected, "");
	toml_for_each(it, list) {
		if (!is_variable(it))
			return fail(server, it, err, expected, "");
	}
	return 0;
}

static int check_keys(const struct toml *server, enum mcp_transport transport, struct error *err)
{
	for (size_t i = 0; i < countof(only); i++) {
		const struct toml *found = toml_get(server, only[i].key);
		if (found && only[i].transport != transport)
			return fail_key(server, found, err, transport);
	}
	return 0;
}

static int check(const struct toml *server, struct error *err)
{
	const struct toml *command = toml_get(server, "command"), *url = toml_get(server, "url");
	const struct toml *token = toml_get(server, "bearer_token"), *variables = toml_get(server, "env_vars");
	enum mcp_transport transport = command ? MCP_TRANSPORT_stdio : MCP_TRANSPORT_http;
	if (token)
		return fail(server, token, err,
		            "bearer_token is not supported; put the token into an environment variable and name it "
		            "with bearer_token_env_var",
		            "");
	if (!command && !url)
		return fail(server, server, err, "invalid transport: set command, or url", "");
	if (command && url)
		return fail_key(server, url, err, MCP_TRANSPORT_stdio);
	if ((command && !command->text.len) || (url && !url->text.len))
		return fail(server, command ? command : url, err, transports[transport].key, " is empty");
	if (check_keys(server, transport, err) != 0)
		return -ERR_config;
	return variables ? check_env_vars(server, variables, err) : 0;
}

int mcp_servers_check(const struct toml *servers, struct error *err)
{
	toml_for_each(it, servers) {
		if (check(it, err) != 0)
			return -ERR_config;
	}
	return 0;
}

/* ---- as structs ---- */

static struct config_strings read_env_vars(const struct toml *list, struct arena *arena)
{
	struct str *items = arena_array(arena, struct str, list ? list->count : 0);
	size_t count = 0;
	toml_for_each(it, list) {
		const struct toml *name = it->kind == TOML_table ? toml_get(it, "name") : it;
		items[count++] = arena_str(arena, name->text);
	}
	return (struct config_strings){items, count};
}

static uint64_t to_ms(double seconds)
{
	return seconds < 0.001 ? 1 : (uint64_t)(seconds * 1000);
}

static int bind(struct config_binder *binder, const struct toml *table, struct mcp_server *ret, struct error *err)
{
	if (config_bind(binder, &config_mcp_server_keys, table, "mcp_servers", &ret->keys, err) != 0)
		return -ERR_config;
	const struct config_mcp_server *keys = &ret->keys;
	bool is_ms = keys->is_set.startup_timeout_ms && !keys->is_set.startup_timeout_sec;
	ret->name = arena_str(binder->arena, table->key);
	ret->transport = keys->command ? MCP_TRANSPORT_stdio : MCP_TRANSPORT_http;
	ret->env_vars = read_env_vars(keys->env_vars, binder->arena);
	ret->startup_timeout_ms = to_ms(is_ms ? (double)keys->startup_timeout_ms / 1000 : keys->startup_timeout_sec);
	ret->tool_timeout_ms = to_ms(keys->tool_timeout_sec);
	return 0;
}

static int compare(const void *a, const void *b)
{
	return str_compare(((const struct mcp_server *)a)->name, ((const struct mcp_server *)b)->name);
}

const struct mcp_server *mcp_servers_bind(struct config_binder *binder, const struct toml *servers, size_t *ret_count)
{
	struct mcp_server *items = arena_array(binder->arena, struct mcp_server, servers ? servers->count : 0);
	*ret_count = 0;
	toml_for_each(it, servers) {
		if (bind(binder, it, &items[*ret_count], NULL) == 0)
			(*ret_count)++;
	}
	qsort(items, *ret_count, sizeof(*items), compare);
	size_t enabled = 0;
	for (size_t i = 0; i < *ret_count; i++) {
		items[i].is_excess = enabled >= LIMIT_MCP_SERVERS;
		enabled += items[i].keys.enabled;
	}
	return items;
}

int mcp_server_check_place(const struct mcp_server *server, struct error *err)
{
	const struct config_mcp_server *keys = &server->keys;
	if (server->is_excess)
		return error_set(err, ERR_limit, "MCP server '%.*s' is not used: more than %d are enabled",
		                 STR_ARG(server->name), LIMIT_MCP_SERVERS);
	if (keys->environment_id && strcmp(keys->environment_id, "local") != 0)
		return error_set(err, ERR_unsupported,
		                 "MCP server '%.*s' belongs to the environment `%.100s`; this version has only `local`",
		                 STR_ARG(server->name), keys->environment_id);
	if (keys->auth == mcp_auth_ema_auth)
		return error_set(err, ERR_unsupported,
		                 "MCP server '%.*s' needs `auth = \"ema_auth\"`, which this version does not have",
		                 STR_ARG(server->name));
	return 0;
}
