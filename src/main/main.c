/* One binary, many names: what argv[0] or argv[1] says decides. Nothing is set up before that, so
 * `--version` and a patch cost no more than their own work. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "config/config_env.h"
#include "patch/patch_main.h"
#include "server/mock_model.h"
#include "ui/exec.h"

struct command {
	const char *word;
	const char *other;
	int (*run)(int argc, char **argv);
	const char *doc;
};

static const struct command commands[] = {
#define COMMAND(name, word, other, function, doc) {word, other, function, doc},
#include "main/command.def"
#undef COMMAND
};

static const struct command *find_command(struct str word)
{
	for (size_t i = 0; i < countof(commands); i++) {
		if (str_is(word, commands[i].word) || (commands[i].other && str_is(word, commands[i].other)))
			return &commands[i];
	}
	return NULL;
}

static void print_help(FILE *to)
{
	fprintf(to, "Codex: an agent that works in your shell and on your files.\n\n"
		    "Usage: codex <COMMAND> [OPTIONS]\n\nCommands:\n");
	for (size_t i = 0; i < countof(commands); i++) {
		if (commands[i].doc)
			fprintf(to, "  %-12s %s\n", commands[i].word, commands[i].doc);
	}
	fprintf(to, "\nOptions:\n"
		    "  -h, --help     Show this text; after a command, that command's own\n"
		    "  -V, --version  Show the version\n\n"
		    "Start with:  codex exec \"explain what this repository does\"\n"
		    "It needs a model: set OPENAI_API_KEY, or see `codex login --help`, or configure a provider in\n"
		    "~/.codex/config.toml. Log lines for developers: CODEX_LOG=debug.\n");
}

static int usage_error(const char *word)
{
	if (word)
		fprintf(stderr, "error: unrecognized subcommand '%s'\n\n", word);
	print_help(stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct str name = str_of(argc ? argv[0] : "codex");
	name = str_skip(name, (size_t)(str_rfind_char(name, '/') + 1));
	const struct command *command = find_command(name); /* apply_patch as a program of its own */
	if (command)
		return command->run(argc, argv);
	if (argc < 2)
		return usage_error(NULL);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("codex-cli " CODEX_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		print_help(stdout);
		return 0;
	}
	command = find_command(str_of(argv[1]));
	if (!command)
		return usage_error(argv[1]);
	log_configure(config_env("CODEX_LOG"));
	signal(SIGPIPE, SIG_IGN); /* a reader that is gone is an error of one write, not our end */
	return command->run(argc - 1, argv + 1);
}
