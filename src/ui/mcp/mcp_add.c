/* `codex mcp add` and `codex mcp remove` change the user's config.toml and nothing else in it. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "config/config_file.h"
#include "config/toml/toml_edit.h"
#include "ui/mcp/mcp_words.h"

enum { COMMAND_MAX = 4096 };

struct add_options {
	struct cli_list overrides, env;
	const char *url, *token_variable, *client_id, *client_secret, *registration, *resource;
};

#define TEXT(name_, field, value_, doc_)                                                                         \
	{                                                                                                        \
		.name = name_, .kind = CLI_TEXT, .offset = offsetof(struct add_options, field), .value = value_, \
		.doc = doc_                                                                                      \
	}

static const struct cli_option add_rows[] = {
	MCP_CONFIG_OPTION(offsetof(struct add_options, overrides)),
	{.name = "env",
         .kind = CLI_LIST,
         .offset = offsetof(struct add_options, env),
         .value = "KEY=VALUE",
         .doc = "A variable of the command's environment; repeatable"},
	TEXT("url", url, "URL", "The URL of a server that is reached by HTTP"),
	TEXT("bearer-token-env-var", token_variable, "NAME", "The variable with a token for that server"),
	TEXT("oauth-client-id", client_id, "ID", "The client that the server's operator has registered"),
	TEXT("oauth-client-secret", client_secret, "SECRET", "Secret of that client"),
	TEXT("oauth-client-registration", registration, "auto|cimd|dcr",
             "The client of the login, as of `codex mcp login`"),
	TEXT("oauth-resource", resource, "URL", "The `resource` parameter of OAuth requests"),
};

static const struct cli_argument add_arguments[] = {
	{"NAME", "A name for the server"},
	{"COMMAND…", "The program and its arguments, after --"},
};

static const struct cli_argument remove_arguments[] = {{"NAME", "The server"}};

const struct cli_command mcp_add_command = {
	.name = "codex mcp add",
	.about = "Add an MCP server to config.toml.",
	.usage = "Usage: codex mcp add NAME [--env KEY=VALUE]… -- COMMAND…\n"
		 "       codex mcp add NAME --url URL [OPTIONS]",
	.details = "A server of that name is replaced. The rest of the file keeps its comments.\n"
		   "If a server with --url offers a login, it starts at once.\n",
	.arguments = add_arguments,
	.argument_count = countof(add_arguments),
	.options = add_rows,
	.option_count = countof(add_rows),
	.most_positionals = COMMAND_MAX,
};

static const struct cli_option remove_rows[] = {MCP_CONFIG_OPTION(offsetof(struct add_options, overrides))};

const struct cli_command mcp_remove_command = {
	.name = "codex mcp remove",
	.about = "Remove an MCP server from config.toml.",
	.usage = "Usage: codex mcp remove NAME",
	.arguments = remove_arguments,
	.argument_count = countof(remove_arguments),
	.options = remove_rows,
	.option_count = countof(remove_rows),
	.most_positionals = 1,
};

static int change(config_file_change_fn fn, void *self)
{
	struct error err;
	auto_free char *home = config_env_home(&err);
	if (!home || config_file_change(home, fn, self, &err) != 0)
		return mcp_print_error(&err);
	return 0;
}

/* ---- add ---- */

struct add {
	struct arena arena;
	const char *name;
	struct toml *server;
};

static void put(struct add *add, struct toml *table, const char *key, const char *value)
{
	if (!value)
		return;
	struct toml *node = toml_new(&add->arena, TOML_string, "", 1);
	node->text = str_of(value);
	toml_add(&add->arena, table, str_of(key), node);
}

static struct toml *put_table(struct add *add, const char *key, enum toml_kind kind)
{
	struct toml *node = toml_new(&add->arena, kind, "", 1);
	toml_add(&add->arena, add->server, str_of(key), node);
	return node;
}

static void put_args(struct add *add, const struct cli_list *words)
{
	if (words->count <= 2)
		return;
	struct toml *args = put_table(add, "args", TOML_array);
	for (size_t i = 2; i < words->count; i++) {
		struct toml *node = toml_new(&add->arena, TOML_string, "", 1);
		node->text = str_of(words->items[i]);
		toml_append(args, node);
	}
}

/* Later values of a variable replace earlier ones. Returns false if a text is not KEY=VALUE. */
static bool put_env(struct add *add, const struct cli_list *env)
{
	struct toml *table = env->count ? put_table(add, "env", TOML_table) : NULL;
	for (size_t i = 0; i < env->count; i++) {
		struct str text = str_of(env->items[i]);
		ptrdiff_t at = str_find_char(text, '=');
		struct str key = str_trim(str_n(text.ptr, at < 0 ? 0 : (size_t)at));
		if (!key.len)
			return false;
		toml_remove(table, key);
		struct toml *node = toml_new(&add->arena, TOML_string, "", 1);
		node->text = str_skip(text, (size_t)at + 1);
		toml_add(&add->arena, table, key, node);
	}
	return true;
}

static void put_oauth(struct add *add, const struct add_options *options)
{
	put(add, add->server, "oauth_resource", options->resource);
	if (!options->client_id)
		return;
	struct toml *oauth = put_table(add, "oauth", TOML_table);
	put(add, oauth, "client_id", options->client_id);
	put(add, oauth, "client_secret", options->client_secret);
}

/* Returns why the command line is wrong, or NULL. */
static const char *find_mistake(const struct add_options *options, const struct cli_list *words)
{
	bool has_command = words->count > 1;
	bool is_for_url = options->token_variable || options->client_id || options->client_secret ||
	                  options->resource || options->registration;
	enum oauth_registration kind;
	if (!words->count || !words->items[0][0])
		return "the name of the server is required";
	if (has_command == (options->url != NULL))
		return "exactly one of --url URL and a command after `--` is required";
	if (has_command && is_for_url)
		return "--bearer-token-env-var and --oauth-* belong to servers with --url";
	if (!has_command && options->env.count)
		return "--env belongs to servers that are started by a command";
	if (!mcp_registration_find(options->registration, &kind))
		return MCP_REGISTRATION_MISTAKE;
	if (options->client_secret && !options->client_id)
		return "--oauth-client-secret needs --oauth-client-id";
	return NULL;
}

/* True for a name that codex 0.169 takes. */
static bool is_name(const char *name)
{
	static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:@/.";
	return strspn(name, all) == strlen(name);
}

static int apply_add(struct toml_edit *edit, void *self, struct error *err)
{
	const struct add *add = self;
	const struct str path[] = {STR("mcp_servers"), str_of(add->name)};
	return toml_edit_set(edit, path, countof(path), add->server, err);
}

static int run_add(const struct add_options *options, const struct cli_list *words)
{
	struct error err;
	const char *mistake = find_mistake(options, words);
	if (mistake)
		return mcp_print_usage(&mcp_add_command, mistake);
	struct add add = {.name = words->items[0]};
	if (!is_name(add.name)) {
		best_effort(
			error_set(&err, ERR_invalid, "invalid server name: use letters, digits, -, _, :, @, / and ."));
		return mcp_print_error(&err);
	}
	add.server = toml_new(&add.arena, TOML_table, "", 1);
	put(&add, add.server, "command", words->count > 1 ? words->items[1] : NULL);
	put_args(&add, words);
	put(&add, add.server, "url", options->url);
	put(&add, add.server, "bearer_token_env_var", options->token_variable);
	put_oauth(&add, options);
	int status = put_env(&add, &options->env) ? change(apply_add, &add)
	                                          : mcp_print_usage(&mcp_add_command, "--env: expected KEY=VALUE");
	enum oauth_registration kind;
	if (status == 0) {
		printf("Added global MCP server '%s'.\n", add.name);
		fflush(stdout);
	}
	if (status == 0 && options->url && !options->token_variable &&
	    mcp_registration_find(options->registration, &kind))
		status = mcp_login_added(&options->overrides, add.name, kind);
	arena_finish(&add.arena);
	return status;
}

int mcp_add_main(int argc, char **argv)
{
	struct add_options options = {0};
	struct cli_result result;
	int status = cli_read(&mcp_add_command, argc, argv, &options, &result);
	if (status < 0)
		status = run_add(&options, &result.positionals);
	cli_finish(&mcp_add_command, &options, &result);
	return status;
}

/* ---- remove ---- */

struct removal {
	const char *name;
	bool was_there;
};

static int apply_remove(struct toml_edit *edit, void *self, struct error *err)
{
	struct removal *removal = self;
	const struct str path[] = {STR("mcp_servers"), str_of(removal->name)};
	const struct toml *servers = toml_get(edit->root, "mcp_servers");
	removal->was_there = toml_get(servers, removal->name) != NULL;
	if (!removal->was_there)
		return 0;
	return toml_edit_remove(edit, path, servers->count > 1 ? 2 : 1, err);
}

int mcp_remove_main(int argc, char **argv)
{
	struct add_options options = {0};
	struct cli_result result;
	struct removal removal = {0};
	int status = cli_read(&mcp_remove_command, argc, argv, &options, &result);
	if (status < 0 && !result.positionals.count)
		status = mcp_print_usage(&mcp_remove_command, "the name of a server is required");
	if (status < 0) {
		removal.name = result.positionals.items[0];
		status = change(apply_remove, &removal);
		if (status == 0 && removal.was_there)
			printf("Removed global MCP server '%s'.\n", removal.name);
		else if (status == 0)
			printf("No MCP server named '%s' found.\n", removal.name);
	}
	cli_finish(&mcp_remove_command, &options, &result);
	return status;
}
