/* `codex mcp list` and `codex mcp get`. The values of variables and headers are not printed in tables: they may be
 * secrets. With --json they are, as programs that use codex 0.169 expect. */
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/config.h"
#include "config/config_required.h"
#include "config/toml/toml_text.h"
#include "net/http_url.h"
#include "oauth/oauth_store.h"
#include "ui/cli/terminal.h"
#include "ui/mcp/mcp_words.h"

enum { EXIT_FAILED = 1, CELL_MAX = 4 * KIB };

struct list_options {
	struct cli_list overrides;
	bool is_json;
};

static const struct cli_option list_rows[] = {
	MCP_CONFIG_OPTION(offsetof(struct list_options, overrides)),
	{.name = "json",
         .kind = CLI_FLAG,
         .offset = offsetof(struct list_options, is_json),
         .doc = "Print JSON, with the values of variables"},
};

static const struct cli_argument get_arguments[] = {{"NAME", "The server"}};

const struct cli_command mcp_list_command = {
	.name = "codex mcp list",
	.about = "List the configured MCP servers.",
	.usage = "Usage: codex mcp list [--json]",
	.options = list_rows,
	.option_count = countof(list_rows),
};

const struct cli_command mcp_get_command = {
	.name = "codex mcp get",
	.about = "Show the settings of one MCP server.",
	.usage = "Usage: codex mcp get [--json] NAME",
	.arguments = get_arguments,
	.argument_count = countof(get_arguments),
	.options = list_rows,
	.option_count = countof(list_rows),
	.most_positionals = 1,
};

/* ---- logins ---- */

struct shown {
	const struct mcp_server *own;
	enum oauth_status auth;
	const char *reason; /* of a server that the administrator's requirements disable; NULL otherwise */
};

static const char *const auth_words[] = {
	[OAUTH_STATUS_unsupported] = "Unsupported",
	[OAUTH_STATUS_bearer_token] = "Bearer token",
	[OAUTH_STATUS_o_auth] = "OAuth",
	[OAUTH_STATUS_not_logged_in] = "Not logged in",
	[OAUTH_STATUS_unknown] = "Unknown",
};

/* ---- JSON ---- */

static void write_strings(struct json_writer *w, const char *key, const struct config_strings *list, bool is_set)
{
	jw_key(w, key);
	if (!is_set) {
		jw_null(w);
		return;
	}
	jw_array(w);
	for (size_t i = 0; i < list->count; i++)
		jw_str(w, list->items[i]);
	jw_array_end(w);
}

static void write_pairs(struct json_writer *w, const char *key, const struct config_pairs *pairs, bool is_set)
{
	jw_key(w, key);
	if (!is_set) {
		jw_null(w);
		return;
	}
	jw_object(w);
	for (size_t i = 0; i < pairs->count; i++) {
		jw_key_str(w, pairs->items[i].key);
		jw_str(w, pairs->items[i].value);
	}
	jw_object_end(w);
}

static void write_stdio(struct json_writer *w, const struct config_mcp_server *keys)
{
	jw_member_cstr(w, "command", keys->command);
	write_strings(w, "args", &keys->args, true);
	write_pairs(w, "env", &keys->env, keys->is_set.env);
	jw_key(w, "env_vars");
	if (keys->env_vars) {
		toml_to_json(w, keys->env_vars);
	} else {
		jw_array(w);
		jw_array_end(w);
	}
	jw_member_cstr(w, "cwd", keys->cwd);
}

static void write_http(struct json_writer *w, const struct config_mcp_server *keys)
{
	jw_member_cstr(w, "url", keys->url);
	jw_member_cstr(w, "bearer_token_env_var", keys->bearer_token_env_var);
	write_pairs(w, "http_headers", &keys->http_headers, keys->is_set.http_headers);
	write_pairs(w, "env_http_headers", &keys->env_http_headers, keys->is_set.env_http_headers);
	jw_member_cstr(w, "http_headers_helper", keys->http_headers_helper);
}

static void write_seconds(struct json_writer *w, const char *key, uint64_t ms, bool is_set)
{
	jw_key(w, key);
	if (is_set)
		jw_double(w, (double)ms / 1000);
	else
		jw_null(w);
}

static void write_server(struct json_writer *w, const struct shown *server, bool is_listed)
{
	const struct config_mcp_server *keys = &server->own->keys;
	jw_object(w);
	jw_member_str(w, "name", server->own->name);
	jw_member_bool(w, "enabled", keys->enabled);
	jw_member_cstr(w, "disabled_reason", server->reason);
	jw_key(w, "transport");
	jw_object(w);
	jw_member_cstr(w, "type", mcp_transport_name(server->own->transport));
	(server->own->transport == MCP_TRANSPORT_stdio ? write_stdio : write_http)(w, keys);
	jw_object_end(w);
	if (!is_listed) {
		write_strings(w, "enabled_tools", &keys->enabled_tools, keys->is_set.enabled_tools);
		write_strings(w, "disabled_tools", &keys->disabled_tools, keys->is_set.disabled_tools);
	}
	write_seconds(w, "startup_timeout_sec", server->own->startup_timeout_ms,
	              keys->is_set.startup_timeout_sec || keys->is_set.startup_timeout_ms);
	write_seconds(w, "tool_timeout_sec", server->own->tool_timeout_ms, keys->is_set.tool_timeout_sec);
	if (is_listed)
		jw_member_cstr(w, "auth_status", oauth_status_name(server->auth));
	jw_object_end(w);
}

/* ---- text ---- */

static void append_all(struct buf *out, const struct config_strings *list)
{
	for (size_t i = 0; i < list->count; i++)
		buf_printf(out, "%s%.*s", i ? " " : "", STR_ARG(list->items[i]));
}

/* Appends names with masked values: "A=*****, B=*****". */
static void append_names(struct buf *out, const struct config_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		buf_printf(out, "%s%.*s=*****", out->len ? ", " : "", STR_ARG(pairs->items[i].key));
}

static void append_env(struct buf *out, const struct shown *server)
{
	append_names(out, &server->own->keys.env);
	for (size_t i = 0; i < server->own->env_vars.count; i++)
		buf_printf(out, "%s%.*s=*****", out->len ? ", " : "", STR_ARG(server->own->env_vars.items[i]));
}

/* Appends a URL without a password, or a key in its query. */
static void append_url(struct buf *out, const char *url)
{
	if (url)
		http_url_append_public(out, str_of(url));
	if (url && strchr(url, '?'))
		buf_append_c(out, "?*****");
}

enum column {
	COLUMN_name,
	COLUMN_command,
	COLUMN_args,
	COLUMN_env,
	COLUMN_cwd,
	COLUMN_url,
	COLUMN_token,
	COLUMN_status,
	COLUMN_auth,
	COLUMN_count
};

static const char *const titles[COLUMN_count] = {
	"Name", "Command", "Args", "Env", "Cwd", "Url", "Bearer Token Env Var", "Status", "Auth"};

static const enum column tables[MCP_TRANSPORT_count][7] = {
	[MCP_TRANSPORT_stdio] = {COLUMN_name, COLUMN_command, COLUMN_args, COLUMN_env, COLUMN_cwd, COLUMN_status,
                                 COLUMN_auth},
	[MCP_TRANSPORT_http] = {COLUMN_name, COLUMN_url, COLUMN_token, COLUMN_status, COLUMN_auth, COLUMN_count},
};

static void append_raw_cell(struct buf *out, const struct shown *server, enum column column)
{
	const struct config_mcp_server *keys = &server->own->keys;
	const char *texts[COLUMN_count] = {
		[COLUMN_command] = keys->command,
		[COLUMN_cwd] = keys->cwd,
		[COLUMN_token] = keys->bearer_token_env_var,
		[COLUMN_status] = keys->enabled ? "enabled" : "disabled",
		[COLUMN_auth] = auth_words[server->auth],
	};
	if (column == COLUMN_name)
		buf_append_str(out, server->own->name);
	else if (column == COLUMN_args)
		append_all(out, &keys->args);
	else if (column == COLUMN_env)
		append_env(out, server);
	else if (column == COLUMN_url)
		append_url(out, keys->url);
	else if (texts[column])
		buf_append_c(out, texts[column]);
	if (column == COLUMN_status && server->reason)
		buf_printf(out, ": %s", server->reason);
}

/* Appends the text of a cell, "-" if it is empty. server: NULL for the title. */
static void append_cell(struct buf *out, const struct shown *server, enum column column)
{
	auto_buf struct buf raw;
	buf_init(&raw, CELL_MAX);
	if (!server) {
		buf_append_c(out, titles[column]);
		return;
	}
	append_raw_cell(&raw, server, column);
	terminal_text_append(out, raw.over ? STR("…") : raw.len ? buf_str(&raw) : STR("-"));
}

static size_t width_of(enum column column, enum mcp_transport transport, const struct shown *servers, size_t count)
{
	size_t width = strlen(titles[column]);
	for (size_t i = 0; i < count; i++) {
		auto_buf struct buf cell;
		buf_init(&cell, LIMIT_LINE);
		if (servers[i].own->transport == transport)
			append_cell(&cell, &servers[i], column);
		width = cell.len > width ? cell.len : width;
	}
	return width;
}

static size_t column_count(enum mcp_transport transport)
{
	size_t count = 0;
	while (count < countof(tables[transport]) && tables[transport][count] != COLUMN_count)
		count++;
	return count;
}

static void append_line(struct buf *out, const struct shown *server, enum mcp_transport transport, const size_t *widths)
{
	size_t columns = column_count(transport);
	for (size_t i = 0; i < columns; i++) {
		size_t start = out->len;
		append_cell(out, server, tables[transport][i]);
		size_t used = out->len - start;
		if (i + 1 < columns)
			buf_printf(out, "%*s", (int)(widths[i] > used ? widths[i] - used + 2 : 2), "");
	}
	buf_append_char(out, '\n');
}

static void append_table(struct buf *out, enum mcp_transport transport, const struct shown *servers, size_t count)
{
	size_t widths[COLUMN_count];
	bool has_any = false;
	for (size_t i = 0; i < count; i++)
		has_any |= servers[i].own->transport == transport;
	if (!has_any)
		return;
	for (size_t i = 0; i < column_count(transport); i++)
		widths[i] = width_of(tables[transport][i], transport, servers, count);
	if (out->len)
		buf_append_char(out, '\n');
	append_line(out, NULL, transport, widths);
	for (size_t i = 0; i < count; i++)
		if (servers[i].own->transport == transport)
			append_line(out, &servers[i], transport, widths);
}

static void append_fact(struct buf *out, const char *name, struct str value)
{
	buf_printf(out, "  %s: ", name);
	terminal_text_append(out, value.len ? value : STR("-"));
	buf_append_char(out, '\n');
}

static void append_names_fact(struct buf *out, const char *name, const struct config_pairs *pairs)
{
	auto_buf struct buf names;
	buf_init(&names, CELL_MAX);
	append_names(&names, pairs);
	append_fact(out, name, buf_str(&names));
}

static void append_list_fact(struct buf *out, const char *name, const struct config_strings *list, bool is_set)
{
	auto_buf struct buf text;
	buf_init(&text, CELL_MAX);
	for (size_t i = 0; i < list->count; i++)
		buf_printf(&text, "%s%.*s", i ? ", " : "", STR_ARG(list->items[i]));
	if (is_set)
		append_fact(out, name, buf_str(&text));
}

static void append_stdio(struct buf *out, const struct shown *server)
{
	auto_buf struct buf args, env;
	buf_init(&args, CELL_MAX);
	buf_init(&env, CELL_MAX);
	append_all(&args, &server->own->keys.args);
	append_env(&env, server);
	append_fact(out, "command", str_of(server->own->keys.command));
	append_fact(out, "args", buf_str(&args));
	append_fact(out, "cwd", str_of(server->own->keys.cwd));
	append_fact(out, "env", buf_str(&env));
}

static void append_http(struct buf *out, const struct shown *server)
{
	auto_buf struct buf url;
	buf_init(&url, CELL_MAX);
	append_url(&url, server->own->keys.url);
	append_fact(out, "url", buf_str(&url));
	append_fact(out, "bearer_token_env_var", str_of(server->own->keys.bearer_token_env_var));
	append_names_fact(out, "http_headers", &server->own->keys.http_headers);
	append_names_fact(out, "env_http_headers", &server->own->keys.env_http_headers);
}

static void append_server(struct buf *out, const struct shown *server)
{
	const struct config_mcp_server *keys = &server->own->keys;
	char seconds[32];
	terminal_text_append(out, server->own->name);
	buf_printf(out, "\n  enabled: %s\n", keys->enabled ? "true" : "false");
	if (server->reason)
		append_fact(out, "disabled_reason", str_of(server->reason));
	append_fact(out, "transport", str_of(mcp_transport_name(server->own->transport)));
	(server->own->transport == MCP_TRANSPORT_stdio ? append_stdio : append_http)(out, server);
	append_list_fact(out, "enabled_tools", &keys->enabled_tools, keys->is_set.enabled_tools);
	append_list_fact(out, "disabled_tools", &keys->disabled_tools, keys->is_set.disabled_tools);
	snprintf(seconds, sizeof(seconds), "%g", (double)server->own->startup_timeout_ms / 1000);
	if (keys->is_set.startup_timeout_sec || keys->is_set.startup_timeout_ms)
		append_fact(out, "startup_timeout_sec", str_of(seconds));
	snprintf(seconds, sizeof(seconds), "%g", (double)server->own->tool_timeout_ms / 1000);
	if (keys->is_set.tool_timeout_sec)
		append_fact(out, "tool_timeout_sec", str_of(seconds));
	buf_append_c(out, "  remove: codex mcp remove ");
	terminal_text_append(out, server->own->name);
	buf_append_char(out, '\n');
}

/* ---- the commands ---- */

static int print(const struct buf *out)
{
	struct error err;
	if (fd_write_all(STDOUT_FILENO, buf_str(out).ptr, out->len, &err) == 0)
		return 0;
	return mcp_print_error(&err);
}

static int print_json(const struct buf *json)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_CONFIG_JSON);
	json_indent(&out, buf_str(json));
	buf_append_char(&out, '\n');
	return print(&out);
}

static int print_list(const struct shown *servers, size_t count, bool is_json)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_CONFIG_JSON);
	if (is_json) {
		struct json_writer w = json_writer(&out);
		jw_array(&w);
		for (size_t i = 0; i < count; i++)
			write_server(&w, &servers[i], true);
		jw_array_end(&w);
		return print_json(&out);
	}
	if (!count)
		buf_append_c(&out, "No MCP servers configured yet. Try `codex mcp add my-tool -- my-command`.\n");
	append_table(&out, MCP_TRANSPORT_stdio, servers, count);
	append_table(&out, MCP_TRANSPORT_http, servers, count);
	return print(&out);
}

static int print_one(const struct shown *servers, size_t count, const char *name, bool is_json)
{
	struct error err;
	auto_buf struct buf out;
	buf_init(&out, LIMIT_CONFIG_JSON);
	for (size_t i = 0; i < count; i++) {
		if (!str_is(servers[i].own->name, name))
			continue;
		struct json_writer w = json_writer(&out);
		if (is_json)
			write_server(&w, &servers[i], false);
		else
			append_server(&out, &servers[i]);
		return is_json ? print_json(&out) : print(&out);
	}
	error_set(&err, ERR_not_found, "No MCP server named '%s' found.", name);
	return mcp_print_error(&err);
}

/* Returns why the server is disabled, if not by the user. */
static const char *reason_of(const struct mcp_server *server, const struct config *config, struct arena *arena)
{
	const struct config_required *required = config_required(config);
	const struct toml *enabled = toml_get(toml_find(config->mcp_servers, server->name), "enabled");
	if (server->keys.enabled || !required || strcmp(enabled->source, required->path) != 0)
		return NULL;
	return arena_printf(arena, "requirements (%s)", required->path);
}

/* name: NULL lists all servers. */
static int show(const struct list_options *options, const char *name)
{
	struct error err;
	size_t count;
	auto_arena struct arena arena = {0};
	struct config *config = mcp_config_load(&options->overrides, &err);
	if (!config)
		return mcp_print_error(&err);
	struct config_binder binder = config_binder(config, &arena);
	const struct mcp_server *servers = mcp_servers_bind(&binder, config->mcp_servers, &count);
	struct shown *shown = arena_array(&arena, struct shown, count);
	for (size_t i = 0; i < count; i++)
		shown[i] = (struct shown){&servers[i], oauth_status_of(&servers[i], config_home(config)),
		                          reason_of(&servers[i], config, &arena)};
	int status =
		name ? print_one(shown, count, name, options->is_json) : print_list(shown, count, options->is_json);
	config_unref(config);
	return status;
}

int mcp_list_main(int argc, char **argv)
{
	struct list_options options = {0};
	struct cli_result result;
	int status = cli_read(&mcp_list_command, argc, argv, &options, &result);
	if (status < 0)
		status = show(&options, NULL);
	cli_finish(&mcp_list_command, &options, &result);
	return status;
}

int mcp_get_main(int argc, char **argv)
{
	struct list_options options = {0};
	struct cli_result result;
	int status = cli_read(&mcp_get_command, argc, argv, &options, &result);
	if (status < 0 && !result.positionals.count)
		status = mcp_print_usage(&mcp_get_command, "the name of a server is required");
	if (status < 0)
		status = show(&options, result.positionals.items[0]);
	cli_finish(&mcp_get_command, &options, &result);
	return status;
}
