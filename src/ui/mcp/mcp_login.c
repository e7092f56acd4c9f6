/* `codex mcp login` and `codex mcp logout`. */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "config/config.h"
#include "oauth/oauth_login.h"
#include "oauth/oauth_metadata.h"
#include "oauth/oauth_store.h"
#include "ui/mcp/mcp_words.h"

enum { LOGIN_TIMEOUT_MS = 300 * 1000, DISCOVERY_TIMEOUT_MS = 5000 };

extern char **environ;

struct login_options {
	struct cli_list overrides;
	const char *scopes, *registration;
	enum oauth_registration kind; /* that the latter names */
	bool no_browser;
};

static const struct cli_option rows[] = {
	MCP_CONFIG_OPTION(offsetof(struct login_options, overrides)),
	{.name = "scopes",
         .kind = CLI_TEXT,
         .offset = offsetof(struct login_options, scopes),
         .value = "SCOPE,SCOPE",
         .doc = "The scopes to request, instead of those of the configuration and the server"},
	{.name = "no-browser",
         .kind = CLI_FLAG,
         .offset = offsetof(struct login_options, no_browser),
         .doc = "Print the URL, and open no browser"},
	{.name = "oauth-client-registration",
         .kind = CLI_TEXT,
         .offset = offsetof(struct login_options, registration),
         .value = "auto|cimd|dcr",
         .doc = "The configured client if there is one, its metadata document, or a newly registered client"},
};

static const struct cli_argument arguments[] = {{"NAME", "The server"}};

const struct cli_command mcp_login_command = {
	.name = "codex mcp login",
	.about = "Log in to an MCP server with OAuth, in a browser.",
	.usage = "Usage: codex mcp login [OPTIONS] NAME",
	.details = "The tokens are kept in .credentials.json in $CODEX_HOME, where only you can read\n"
		   "them, and are refreshed when they expire.\n",
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = rows,
	.option_count = countof(rows),
	.most_positionals = 1,
};

const struct cli_command mcp_logout_command = {
	.name = "codex mcp logout",
	.about = "Remove the stored login to an MCP server.",
	.usage = "Usage: codex mcp logout NAME",
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = rows,
	.option_count = 1,
	.most_positionals = 1,
};

static const char *const registrations[] = {
	[OAUTH_REGISTRATION_auto] = "auto",
	[OAUTH_REGISTRATION_cimd] = "cimd",
	[OAUTH_REGISTRATION_dcr] = "dcr",
};

bool mcp_registration_find(const char *text, enum oauth_registration *ret)
{
	*ret = OAUTH_REGISTRATION_auto;
	for (size_t i = 0; text && i < countof(registrations); i++) {
		*ret = (enum oauth_registration)i;
		if (strcmp(text, registrations[i]) == 0)
			return true;
	}
	return !text;
}

struct login_run {
	const struct login_options *options;
	const struct mcp_server *server;
};

static void open_browser(const char *url)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	char program[] = "xdg-open", *argv[] = {program, (char *)(uintptr_t)url, NULL};
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
	best_effort(posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ));
	posix_spawn_file_actions_destroy(&actions);
}

static void on_url(const char *url, void *self)
{
	const struct login_run *run = self;
	printf("Authorize `%.*s` by opening this URL in your browser:\n%s\n", STR_ARG(run->server->name), url);
	fflush(stdout);
	if (!run->options->no_browser)
		open_browser(url);
}

static int log_in(const struct config *config, const struct mcp_server *server, const struct login_options *options,
                  struct error *err)
{
	struct login_run run = {options, server};
	auto_free char *scope = options->scopes ? xstrdup(options->scopes) : NULL;
	for (char *at = scope; at && *at; at++)
		*at = *at == ',' ? ' ' : *at;
	const struct oauth_login_options how = {
		.config = config,
		.server = server,
		.scope = scope,
		.registration = options->kind,
		.timeout_ms = LOGIN_TIMEOUT_MS,
		.on_url = on_url,
		.self = &run,
	};
	struct oauth_login *login = oauth_login_create(&how, err);
	int status = login ? oauth_login_run(login, err) : -(int)err->code;
	oauth_login_destroy(login);
	if (status != 0)
		return status;
	printf("Successfully logged in to MCP server '%.*s'.\n", STR_ARG(server->name));
	return 0;
}

static int log_out(const struct config *config, const struct mcp_server *server, const struct login_options *options,
                   struct error *err)
{
	bool was_there;
	(void)options;
	if (oauth_store_remove(config_home(config), server->name, str_of(server->keys.url), &was_there, err) != 0)
		return -(int)err->code;
	printf(was_there ? "Removed OAuth credentials for '%.*s'.\n" : "No OAuth credentials stored for '%.*s'.\n",
	       STR_ARG(server->name));
	return 0;
}

/* True if the server of that URL says where its users log in. */
static bool offers_login(const struct mcp_server *server, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct oauth_fetcher fetcher = {0};
	struct oauth_metadata found;
	bool is_found = oauth_fetcher_init(&fetcher, &arena, err) == 0;
	fetcher.whole_ms = DISCOVERY_TIMEOUT_MS;
	is_found = is_found && oauth_metadata_find(&fetcher, server->keys.url,
	                                           server->keys.oauth.authorization_server_issuer, &found, err) == 0;
	oauth_fetcher_finish(&fetcher);
	if (!is_found || !found.is_guessed)
		return is_found;
	error_set(err, ERR_not_found, "the server does not say where its users log in");
	return false;
}

static int log_in_if_offered(const struct config *config, const struct mcp_server *server,
                             const struct login_options *options, struct error *err)
{
	struct error why;
	if (!offers_login(server, &why)) {
		fprintf(stderr, "No login was started: %s. If the server needs one, run `codex mcp login %.*s`.\n",
		        why.text, STR_ARG(server->name));
		return 0;
	}
	printf("Detected OAuth support. Starting OAuth flow…\n");
	return log_in(config, server, options, err);
}

typedef int (*act_fn)(const struct config *config, const struct mcp_server *server, const struct login_options *options,
                      struct error *err);

static int act_on(const struct config *config, const char *name, const struct login_options *options, act_fn act,
                  struct error *err)
{
	size_t count;
	auto_arena struct arena arena = {0};
	struct config_binder binder = config_binder(config, &arena);
	const struct mcp_server *servers = mcp_servers_bind(&binder, config->mcp_servers, &count);
	for (size_t i = 0; i < count; i++) {
		if (!str_is(servers[i].name, name))
			continue;
		if (servers[i].transport == MCP_TRANSPORT_http)
			return act(config, &servers[i], options, err);
		return error_set(err, ERR_unsupported, "OAuth login is only supported for streamable HTTP servers.");
	}
	return error_set(err, ERR_not_found, "No MCP server named '%s' found.", name);
}

int mcp_login_added(const struct cli_list *overrides, const char *name, enum oauth_registration kind)
{
	struct error err;
	struct login_options options = {.kind = kind};
	struct config *config = mcp_config_load(overrides, &err);
	bool is_fine = config && act_on(config, name, &options, log_in_if_offered, &err) == 0;
	config_unref(config);
	return is_fine ? 0 : mcp_print_error(&err);
}

static int run_act(const struct cli_command *command, int argc, char **argv, act_fn act)
{
	struct login_options options = {0};
	struct cli_result result;
	struct error err;
	int status = cli_read(command, argc, argv, &options, &result);
	if (status < 0 && !result.positionals.count)
		status = mcp_print_usage(command, "the name of a server is required");
	if (status < 0 && !mcp_registration_find(options.registration, &options.kind))
		status = mcp_print_usage(command, MCP_REGISTRATION_MISTAKE);
	if (status < 0) {
		struct config *config = mcp_config_load(&options.overrides, &err);
		bool is_fine = config && act_on(config, result.positionals.items[0], &options, act, &err) == 0;
		status = is_fine ? 0 : mcp_print_error(&err);
		config_unref(config);
	}
	cli_finish(command, &options, &result);
	return status;
}

int mcp_login_main(int argc, char **argv)
{
	return run_act(&mcp_login_command, argc, argv, log_in);
}

int mcp_logout_main(int argc, char **argv)
{
	return run_act(&mcp_logout_command, argc, argv, log_out);
}
