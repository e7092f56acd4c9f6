/* The commands of the program, from command.def, and the two that show this table itself: help and completion. */
#include "main/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "ui/cli/completion.h"
#include "ui/debug/debug_command.h"
#include "ui/tools/debug_models.h"
#include "ui/doctor/doctor.h"
#include "ui/exec/exec.h"
#include "ui/exec/exec_options.h"
#include "ui/cli/features_command.h"
#include "ui/fleet/fleet_options.h"
#include "ui/mcp/mcp_command.h"
#include "ui/serve/acp_command.h"
#include "ui/serve/app_server_command.h"
#include "ui/serve/mcp_server_command.h"
#include "ui/serve/mock_command.h"
#include "ui/serve/proto_command.h"
#include "ui/serve/serve_command.h"
#include "ui/sessions/agents_command.h"
#include "ui/sessions/archive_command.h"
#include "ui/sessions/export_command.h"
#include "ui/sessions/queue_command.h"
#include "ui/tools/execpolicy_command.h"
#include "ui/tools/explain.h"
#include "ui/tools/hooks_command.h"
#include "ui/tools/login.h"
#include "ui/tools/plugin_command.h"
#include "ui/tools/sandbox_command.h"
#include "ui/tools/update_command.h"
#include "ui/tui/tui.h"

static int run_help(int argc, char **argv);
static int run_completion(int argc, char **argv);
static int absent_main(int argc, char **argv);
static int run_fleet(int argc, char **argv);
static const struct cli_command help_command;

#ifdef CODEX_WITHOUT_MOCK
#define MOCK_MODEL_DOC NULL
#else
#define MOCK_MODEL_DOC "Serve a scripted model, for tests and demos"
#endif

/* ---- commands of codex 0.169 that this version does not have ----
 *
 * They are known, so that a script that uses them learns why they fail instead of starting a session with their name as
 * the prompt. */

enum { EXIT_FAILED = 1, ARGUMENTS_MAX = 64 };

#define ABSENT(name_, word, about_, reason)                   \
	static const struct cli_command name_##_command = {   \
		.name = "codex " word,                        \
		.about = "Not available: " about_ ".",        \
		.usage = "Usage: codex " word " [ARGUMENTS]", \
		.most_positionals = ARGUMENTS_MAX,            \
	};
#include "main/absent.def"
#undef ABSENT

static const struct {
	const struct cli_command *command;
	const char *word, *reason;
} absent[] = {
#define ABSENT(name, word, about, reason) {&name##_command, word, reason},
#include "main/absent.def"
#undef ABSENT
};

static int absent_main(int argc, char **argv)
{
	size_t at = 0; /* `a` is the short word of apply, the first row */
	for (size_t i = 0; i < countof(absent); i++) {
		if (strcmp(argv[0], absent[i].word) == 0)
			at = i;
	}
	if (cli_wants_help(argc, argv)) {
		cli_print_help(absent[at].command, 1);
		printf("\n%s\n", absent[at].reason);
		return 0;
	}
	fprintf(stderr, "Error: `codex %s` is not available: %s\n", absent[at].word, absent[at].reason);
	return EXIT_FAILED;
}

/* ---- all commands ---- */

static const struct cli_word words[] = {
#define COMMAND(word_, other_, function, command_, doc_) \
	{.word = word_, .other = other_, .doc = doc_, .command = &command_, .run = function},
#include "main/command.def"
#undef COMMAND
};

static const struct cli_command help_command = {
	.name = "codex help",
	.about = "Print the help of codex or of one command.",
	.usage = "Usage: codex help [COMMAND | KEY]",
	.details = "KEY is a key of config.toml, for example sandbox_mode or\n"
		   "model_providers.NAME.base_url: its type and default, its value in this folder,\n"
		   "and the files that set it.\n",
	.words = words,
	.word_count = countof(words),
	.most_positionals = 1,
};

/* Parsed before everything else (ui/cli/version.h): the options before a command are those of `codex exec`. */
static const struct cli_option codex_options[] = {
	{.name = "verbose", .kind = CLI_FLAG, .doc = "With --version: also the build and the libraries"},
};

const struct cli_command codex_command = {
	.name = "codex",
	.about = "Codex: an agent that works in your shell and on your files.",
	.usage = "Usage: codex [OPTIONS] [PROMPT]\n"
		 "       codex <COMMAND> [OPTIONS] [ARGUMENTS]",
	.details = "Without a command it opens a conversation in the terminal. In scripts:\n"
		   "  codex exec \"explain what this repository does\"\n"
		   "\n"
		   "Codex needs a model: set OPENAI_API_KEY, or store a key (`codex login`), or use\n"
		   "a model server on this machine (--oss), or name a provider in config.toml in\n"
		   "$CODEX_HOME, ~/.codex by default.\n"
		   "The documents docs/NAME.md that help and messages refer to are in the source\n"
		   "and, if they are installed, in share/doc/codex (Debian: package codex-c-common).\n"
		   "For developers: CODEX_LOG=debug logs to standard error.\n",
	.words = words,
	.word_count = countof(words),
	.options = codex_options,
	.option_count = countof(codex_options),
};

static int refuse_help(const char *text)
{
	struct error err;
	best_effort(cli_unknown_word(&help_command, text, &err));
	return cli_print_error(&help_command, &err);
}

static int run_help(int argc, char **argv)
{
	struct cli_result result;
	int status = cli_read(&help_command, argc, argv, NULL, &result);
	const char *key = status < 0 && !result.word && result.positionals.count ? result.positionals.items[0] : NULL;
	if (key && explain_knows(key)) {
		status = explain_print(key);
	} else if (key) {
		status = refuse_help(key);
	} else if (status < 0) {
		cli_print_help(result.word ? result.word->command : &codex_command, STDOUT_FILENO);
		status = 0;
	}
	cli_finish(&help_command, NULL, &result);
	return status;
}

static int run_fleet(int argc, char **argv)
{
	const struct cli_word *word = cli_find_word(&codex_command, argv[0]);
	const struct cli_word *below = argc > 1 ? cli_find_word(word->command, argv[1]) : NULL;
	return fleet_run((below ? below : word)->command, argc, argv);
}

static int run_completion(int argc, char **argv)
{
	return completion_main(&codex_command, argc, argv);
}

static const char *listed_at(size_t index)
{
	for (size_t i = 0, at = 0; i < countof(words); i++) {
		if (words[i].doc && at++ == index)
			return words[i].word;
	}
	return NULL;
}

bool command_is_like(const char *text)
{
	return cli_nearest(str_of(text), listed_at).ptr != NULL;
}

int command_refuse(const char *text)
{
	struct error err;
	best_effort(cli_unknown_word(&codex_command, text, &err));
	return cli_print_error(&codex_command, &err);
}
