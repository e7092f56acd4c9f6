/* The entry point of all commands: argv[0] or the first word selects one. Nothing is initialized before that, so that
 * `--version` and apply_patch start fast. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "patch/patch_main.h"
#include "sandbox/sandbox_entry.h"
#include "ui/sessions/agents_command.h"
#include "ui/serve/app_server_command.h"
#include "ui/cli/cli.h"
#include "ui/cli/completion.h"
#include "ui/debug/debug_command.h"
#include "ui/doctor/doctor.h"
#include "ui/exec/exec.h"
#include "ui/exec/exec_options.h"
#include "ui/tools/execpolicy_command.h"
#include "ui/sessions/export_command.h"
#include "ui/tools/login.h"
#include "ui/serve/mock_command.h"
#include "ui/serve/proto_command.h"
#include "ui/tools/sandbox_command.h"

static int run_help(int argc, char **argv);
static int run_completion(int argc, char **argv);
static const struct cli_command help_command;

#ifdef CODEX_WITHOUT_MOCK
#define MOCK_MODEL_DOC NULL
#else
#define MOCK_MODEL_DOC "Serve a scripted model, for tests and demos"
#endif

static const struct cli_word words[] = {
#define COMMAND(word_, other_, function, command_, doc_) \
	{.word = word_, .other = other_, .doc = doc_, .command = &command_, .run = function},
#include "main/command.def"
#undef COMMAND
};

static const struct cli_command help_command = {
	.name = "codex help",
	.about = "Print the help of codex or of one command.",
	.usage = "Usage: codex help [COMMAND]",
	.words = words,
	.word_count = countof(words),
};

static const struct cli_command codex_command = {
	.name = "codex",
	.about = "Codex: an agent that works in your shell and on your files.",
	.usage = "Usage: codex <COMMAND> [OPTIONS] [ARGUMENTS]",
	.details = "Start with:\n"
		   "  codex exec \"explain what this repository does\"\n"
		   "\n"
		   "Codex needs a model: set OPENAI_API_KEY, or store a key (`codex login`), or use\n"
		   "a model server on this machine (--oss), or name a provider in config.toml in\n"
		   "$CODEX_HOME, ~/.codex by default.\n"
		   "For developers: CODEX_LOG=debug logs to standard error.\n",
	.words = words,
	.word_count = countof(words),
};

static int run_help(int argc, char **argv)
{
	struct cli_result result;
	int status = cli_read(&help_command, argc, argv, NULL, &result);
	if (status < 0) {
		cli_print_help(result.word ? result.word->command : &codex_command, STDOUT_FILENO);
		status = 0;
	}
	cli_finish(&help_command, NULL, &result);
	return status;
}

static int run_completion(int argc, char **argv)
{
	return completion_main(&codex_command, argc, argv);
}

/* Rejects an unknown word. One with spaces is probably a prompt: the user expects codex "…" to run it. */
static int refuse_word(const char *text)
{
	struct error err;
	if (strchr(text, ' '))
		error_set(&err, ERR_usage, "unrecognized subcommand '%s'\n\n  tip: give tasks to 'codex exec'", text);
	else
		best_effort(cli_unknown_word(&codex_command, text, &err));
	return cli_print_error(&codex_command, &err);
}

static int refuse_nothing(void)
{
	fputs("error: a command is required\n\n", stderr);
	cli_print_help(&codex_command, STDERR_FILENO);
	return 2;
}

/* With dynamic thresholds glibc serves large blocks from the heap after the first large message is freed, which
 * fragments it. Fixed thresholds return the memory of a message to the system when it is freed, which reduces the
 * peak of a long response by a third. */
static void configure_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

/* Runs a command. argv[at] is its word; options before it belong to the command and are moved after it. */
static int run_word(int argc, char **argv, int at)
{
	char *text = argv[at];
	const struct cli_word *word = cli_find_word(&codex_command, text);
	if (!word)
		return refuse_word(text);
	memmove(&argv[2], &argv[1], sizeof(*argv) * (size_t)(at - 1));
	argv[1] = text;
	configure_memory();
	log_configure(config_env("CODEX_LOG"));
	signal(SIGPIPE, SIG_IGN); /* a closed pipe becomes an error of write */
	signal(SIGXFSZ, SIG_IGN); /* and so does an exceeded file size limit */
	return word->run(argc - 1, argv + 1);
}

/* If a standard stream is closed, the next opened file would get its descriptor and receive printed output. /dev/null
 * takes its place, opened in the opposite direction, so that reads and writes still fail. */
static void keep_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			_exit(1);
	}
}

int main(int argc, char **argv)
{
	struct cli_result result;
	struct error err;
	int at;
	keep_standard_streams();
	if (sandbox_entry_wants(argc, argv))
		sandbox_entry_main(argc, argv);
	sandbox_entry_offer();
	if (patch_main_wants(argc, argv))
		return patch_main(argc, argv);
	if (cli_find_positional(&exec_command, argc, argv, &at, &result, &err) != 0)
		return cli_print_error(&codex_command, &err);
	if (result.wants_help)
		cli_print_help(&codex_command, STDOUT_FILENO);
	else if (result.wants_version)
		cli_print_version(&codex_command);
	else
		return at < argc ? run_word(argc, argv, at) : refuse_nothing();
	return 0;
}
