/* MCP servers: those of the user and, by folder, the user's own of projects are in ~/.claude.json; a project has
 * .mcp.json. A variable that is not all of a value has no form in config.toml, so such a server is refused with the
 * reason; the value of a variable is never written in its place. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/mcp_server.h"
#include "config/toml/toml.h"
#include "config/toml/toml_edit.h"
#include "import/import_scope.h"

struct server {
	const struct import_scope *scope;
	struct str name;
	const struct json *json;
	bool is_private; /* the user's own: to be kept out of the project */
	struct json_writer w;
	struct buf *note;
	struct toml *table;
};

/* ---- which ---- */

static const struct json *private_servers(const struct import_scope *scope)
{
	return json_get(scope->state, "mcpServers");
}

static const struct json *shared_servers(const struct import_scope *scope)
{
	return scope->cwd ? json_get(scope->sources[IMPORT_servers].json, "mcpServers") : NULL;
}

static const struct json *member(const struct json *object, struct str name)
{
	json_for_each(it, json_is(object, JSON_object) ? object : NULL)
		if (str_eq(it->key, name))
			return it;
	return NULL;
}

/* True if one of the lists of this name has the server; *ret_any: there is such a list that is not empty. */
static bool is_listed(const struct import_scope *scope, const char *key, struct str name, bool *ret_any)
{
	const struct json *places[] = {scope->sources[IMPORT_settings].json, scope->sources[IMPORT_local].json,
	                               scope->state};
	for (size_t i = 0; i < countof(places); i++) {
		json_for_each(it, json_get(places[i], key)) {
			*ret_any = true;
			if (json_is(it, JSON_string) && str_eq(it->text, name))
				return true;
		}
	}
	return false;
}

/* The user has not switched off this server of .mcp.json. */
static bool is_chosen(const struct import_scope *scope, struct str name)
{
	bool has_some = false, ignored = false;
	bool is_on = is_listed(scope, "enabledMcpjsonServers", name, &has_some);
	return !is_listed(scope, "disabledMcpjsonServers", name, &ignored) && (is_on || !has_some);
}

static bool is_hidden(const struct import_scope *scope, struct str name)
{
	return !is_chosen(scope, name) || member(private_servers(scope), name);
}

int import_servers_find(const struct import_scope *scope, struct import_names *names, struct error *err)
{
	struct import_names shared = {0};
	int status = import_source_check(scope->all, err);
	if (status == 0)
		status = import_source_check(&scope->sources[IMPORT_servers], err);
	if (status == 0)
		status = import_add_keys(scope, names, private_servers(scope), err);
	if (status == 0)
		status = import_add_keys(scope, &shared, shared_servers(scope), err);
	vec_for_each(it, &shared)
		if (!is_hidden(scope, *it))
			vec_push(names, *it);
	vec_finish(&shared);
	return status;
}

/* A server of the user's counts in projects as well. */
bool import_servers_have(const struct import_scope *scope, struct str name)
{
	bool is_user = !scope->cwd || member(private_servers(scope), name);
	return toml_find(toml_get(scope->user_config, "mcp_servers"), name) ||
	       (!is_user && toml_find(toml_get(scope->config, "mcp_servers"), name));
}

/* ---- translation ---- */

static bool has_variable(struct str text)
{
	return str_find(text, STR("${")) >= 0;
}

/* Cuts the name out of "${NAME}" after a prefix. */
static bool is_variable(struct str text, const char *prefix, struct str *ret)
{
	if (!str_cut_prefix(&text, prefix) || !str_cut_prefix(&text, "${") || !str_has_suffix(text, "}"))
		return false;
	*ret = str_n(text.ptr, text.len - 1);
	for (size_t i = 0; i < ret->len; i++) {
		char c = ret->ptr[i];
		if (!((c | 32) >= 'a' && (c | 32) <= 'z') && !(c >= '0' && c <= '9') && c != '_')
			return false;
	}
	return ret->len;
}

static bool is_secret(struct str name)
{
	static const char *const words[] = {"KEY",    "SECRET", "TOKEN",      "PASSWORD",
	                                    "PASSWD", "AUTH",   "CREDENTIAL", "COOKIE"};
	for (size_t i = 0; i < countof(words); i++)
		if (str_contains_fold(name, str_of(words[i])))
			return true;
	return false;
}

static bool stays_out(const struct server *server, struct str name)
{
	return server->scope->cwd && !server->is_private && is_secret(name);
}

static int refuse_variable(struct str key, struct error *err)
{
	return error_set(err, ERR_unsupported,
	                 "its %.*s contains a variable that config.toml cannot express; add the server by hand",
	                 STR_ARG(key));
}

static int write_text(struct server *server, const char *from, const char *to, struct error *err)
{
	struct str text = json_get_str(server->json, from);
	if (has_variable(text))
		return refuse_variable(str_of(from), err);
	if (text.ptr)
		jw_member_str(&server->w, to, text);
	return 0;
}

static int write_args(struct server *server, struct error *err)
{
	const struct json *args = json_get(server->json, "args");
	if (!args)
		return 0;
	jw_key(&server->w, "args");
	jw_array(&server->w);
	json_for_each(it, args) {
		if (has_variable(it->span))
			return refuse_variable(STR("args"), err);
		jw_value(&server->w, it);
	}
	jw_array_end(&server->w);
	return 0;
}

/* A variable by its own name is inherited. So is a secret of a project, whose value is not copied. */
static bool is_inherited(const struct server *server, const struct json *it)
{
	struct str name;
	return has_variable(it->text) ? is_variable(it->text, "", &name) && str_eq(name, it->key)
	                              : stays_out(server, it->key);
}

static size_t count_env(const struct server *server, bool is_inheriting)
{
	size_t count = 0;
	json_for_each(it, json_get(server->json, "env"))
		count += json_is(it, JSON_string) && is_inherited(server, it) == is_inheriting;
	return count;
}

static int write_env(struct server *server, struct error *err)
{
	const struct json *env = json_get(server->json, "env");
	if (!count_env(server, false))
		return 0;
	jw_key(&server->w, "env");
	jw_object(&server->w);
	json_for_each(it, env) {
		if (!json_is(it, JSON_string) || is_inherited(server, it))
			continue;
		if (has_variable(it->text))
			return refuse_variable(it->key, err);
		jw_key_str(&server->w, it->key);
		jw_str(&server->w, it->text);
	}
	jw_object_end(&server->w);
	return 0;
}

static void write_inherited(struct server *server)
{
	if (!count_env(server, true))
		return;
	jw_key(&server->w, "env_vars");
	jw_array(&server->w);
	json_for_each(it, json_get(server->json, "env")) {
		if (!json_is(it, JSON_string) || !is_inherited(server, it))
			continue;
		jw_str(&server->w, it->key);
		if (!has_variable(it->text))
			buf_printf(server->note,
			           "the value of %.*s is not copied into the project: set it in the environment. ",
			           STR_ARG(it->key));
	}
	jw_array_end(&server->w);
}

enum header { HEADER_literal, HEADER_variable, HEADER_bearer, HEADER_left };

static enum header judge_header(const struct server *server, const struct json *it, struct str *ret_name)
{
	if (!json_is(it, JSON_string))
		return HEADER_left;
	if (str_equal_fold(it->key, STR("Authorization")) && is_variable(it->text, "Bearer ", ret_name))
		return HEADER_bearer;
	if (is_variable(it->text, "", ret_name))
		return HEADER_variable;
	*ret_name = it->text;
	return stays_out(server, it->key) ? HEADER_left : HEADER_literal;
}

static int write_headers(struct server *server, const char *key, enum header kind, struct error *err)
{
	struct str value;
	bool is_open = false;
	json_for_each(it, json_get(server->json, "headers")) {
		if (judge_header(server, it, &value) != kind)
			continue;
		if (has_variable(value))
			return refuse_variable(it->key, err);
		if (!is_open) {
			jw_key(&server->w, key);
			jw_object(&server->w);
			is_open = true;
		}
		jw_key_str(&server->w, it->key);
		jw_str(&server->w, value);
	}
	if (is_open)
		jw_object_end(&server->w);
	return 0;
}

static int write_http(struct server *server, struct error *err)
{
	struct str name;
	json_for_each(it, json_get(server->json, "headers")) {
		enum header kind = judge_header(server, it, &name);
		if (kind == HEADER_bearer)
			jw_member_str(&server->w, "bearer_token_env_var", name);
		if (kind == HEADER_left)
			buf_printf(server->note, "the header %.*s is not copied into the project. ", STR_ARG(it->key));
	}
	return write_text(server, "url", "url", err) != 0 ||
	                       write_text(server, "headersHelper", "http_headers_helper", err) != 0 ||
	                       write_headers(server, "http_headers", HEADER_literal, err) != 0 ||
	                       write_headers(server, "env_http_headers", HEADER_variable, err) != 0
	               ? -(int)err->code
	               : 0;
}

/* A server of the user's own about a project runs in the project, though its table is not there. */
static int write_stdio(struct server *server, struct error *err)
{
	const struct import_scope *scope = server->scope;
	struct str cwd = json_get_str(server->json, "cwd");
	if (has_variable(cwd))
		return refuse_variable(STR("cwd"), err);
	if (cwd.len && cwd.ptr[0] == '/')
		jw_member_str(&server->w, "cwd", cwd);
	else if (cwd.len || (server->is_private && scope->cwd))
		jw_member_cstr(
			&server->w, "cwd",
			arena_printf(scope->arena, "%s%s%.*s", scope->theirs.path, cwd.len ? "/" : "", STR_ARG(cwd)));
	if (write_text(server, "command", "command", err) != 0 || write_args(server, err) != 0 ||
	    write_env(server, err) != 0)
		return -(int)err->code;
	write_inherited(server);
	return 0;
}

static int translate(struct server *server, struct error *err)
{
	struct str type = json_get_str(server->json, "type");
	bool has_url = json_get_str(server->json, "url").len;
	if (type.len && !str_is(type, "stdio") && !str_is(type, "http") && !str_is(type, "streamable-http"))
		return error_set(err, ERR_unsupported, "servers of the transport %.*s are not supported",
		                 STR_ARG(type));
	jw_object(&server->w);
	if ((has_url ? write_http(server, err) : write_stdio(server, err)) != 0)
		return -(int)err->code;
	if (json_get_bool(server->json, "disabled", false) || !json_get_bool(server->json, "enabled", true))
		jw_member_bool(&server->w, "enabled", false);
	jw_object_end(&server->w);
	return 0;
}

/* ---- import ---- */

static int change(struct toml_edit *edit, void *self, struct error *err)
{
	struct server *server = self;
	struct str path[] = {STR("mcp_servers"), server->name};
	if (toml_find(toml_get(edit->root, "mcp_servers"), server->name))
		return error_set(err, ERR_exists, "config.toml has this server already");
	if (toml_edit_set(edit, path, countof(path), server->table, err) != 0)
		return -(int)err->code;
	return mcp_servers_check(toml_get(edit->root, "mcp_servers"), err);
}

int import_servers_carry(const struct import_scope *scope, struct str name, struct buf *note, struct error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_IMPORT_FILE);
	struct server server = {.scope = scope, .name = name, .w = json_writer(&text), .note = note};
	server.json = member(private_servers(scope), name);
	server.is_private = server.json;
	if (!server.json)
		server.json = member(shared_servers(scope), name);
	if (!json_is(server.json, JSON_object))
		return error_set(err, ERR_invalid, "it is no object");
	if (translate(&server, err) != 0)
		return -(int)err->code;
	const struct json *json = json_parse_copy(scope->arena, buf_str(&text), err);
	server.table = json ? toml_from_json(scope->arena, json, "", err) : NULL;
	return server.table ? import_change_config(scope, server.is_private, change, &server, err) : -(int)err->code;
}
