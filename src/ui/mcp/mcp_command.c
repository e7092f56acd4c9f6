/* Options before the word, as in `codex -c key=value mcp list`, belong to the command that the word names. */
#include "ui/mcp/mcp_command.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "config/config.h"
#include "ui/mcp/mcp_words.h"

enum { EXIT_FAILED = 1 };

struct mcp_options {
	struct cli_list overrides;
};

static const struct cli_option rows[] = {MCP_CONFIG_OPTION(offsetof(struct mcp_options, overrides))};

/* clang-format off */
static const struct cli_word words[] = {
	{.word = "list", .other = "ls", .doc = "List the configured servers",
	 .command = &mcp_list_command, .run = mcp_list_main},
	{.word = "get", .doc = "Show one server", .command = &mcp_get_command, .run = mcp_get_main},
	{.word = "add", .doc = "Add a server to config.toml", .command = &mcp_add_command, .run = mcp_add_main},
	{.word = "remove", .other = "rm", .doc = "Remove a server from config.toml",
	 .command = &mcp_remove_command, .run = mcp_remove_main},
	{.word = "login", .doc = "Log in to a server with OAuth", .command = &mcp_login_command, .run = mcp_login_main},
	{.word = "logout", .doc = "Remove the login to a server", .command = &mcp_logout_command, .run = mcp_logout_main},
};
/* clang-format on */

const struct cli_command mcp_command = {
	.name = "codex mcp",
	.about = "Show and change the MCP servers, whose tools the model can use.",
	.usage = "Usage: codex mcp <COMMAND> [OPTIONS]",
	.details = "Examples:\n"
		   "  codex mcp add docs -- npx -y @example/docs-server\n"
		   "  codex mcp add tracker --url https://mcp.example.com/mcp\n"
		   "  codex mcp list\n"
		   "docs/mcp.md describes all settings of a server.\n",
	.words = words,
	.word_count = countof(words),
	.options = rows,
	.option_count = countof(rows),
};

struct config *mcp_config_load(const struct cli_list *overrides, struct error *err)
{
	struct str *texts = xcalloc(overrides->count + 1, sizeof(*texts));
	for (size_t i = 0; i < overrides->count; i++)
		texts[i] = str_of(overrides->items[i]);
	const struct config_source source = {.overrides = texts, .override_count = overrides->count};
	struct config *config = config_load(&source, err);
	free(texts);
	return config;
}

int mcp_print_error(const struct error *err)
{
	fprintf(stderr, "Error: %s\n", err->text);
	return EXIT_FAILED;
}

int mcp_print_usage(const struct cli_command *command, const char *text)
{
	struct error err;
	error_set(&err, ERR_usage, "%s", text);
	return cli_print_error(command, &err);
}

static int refuse(int argc, char **argv)
{
	struct mcp_options options = {0};
	struct cli_result result;
	int status = cli_read(&mcp_command, argc, argv, &options, &result);
	cli_finish(&mcp_command, &options, &result);
	return status < 0
	               ? mcp_print_usage(&mcp_command, "a command is required: list, get, add, remove, login or logout")
	               : status;
}

int mcp_main(int argc, char **argv)
{
	struct cli_result result;
	struct error err;
	int at;
	if (cli_find_positional(&mcp_command, argc, argv, &at, &result, &err) != 0)
		return cli_print_error(&mcp_command, &err);
	const struct cli_word *word = at < argc ? cli_find_word(&mcp_command, argv[at]) : NULL;
	if (at < argc && !word && strcmp(argv[at], "help") != 0) {
		best_effort(cli_unknown_word(&mcp_command, argv[at], &err));
		return cli_print_error(&mcp_command, &err);
	}
	if (!word || result.wants_help || result.wants_version)
		return refuse(argc, argv);
	cli_move_word(&mcp_command, argv, at);
	return word->run(argc - 1, argv + 1);
}
