/* The entry point of all commands: argv[0] or the first word selects one. Nothing is initialized before that, so that
 * `--version` and apply_patch start fast. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"
#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/nsswitch.h"
#include "base/stand_in.h"
#include "config/auth_store.h"
#include "config/config_env.h"
#include "main/command.h"
#include "main/gnutls.h"
#include "patch/patch_main.h"
#include "sandbox/sandbox_entry.h"
#include "ui/cli/cli.h"
#include "ui/cli/version.h"
#include "ui/tui/tui.h"

static void prepare_process(void)
{
	host_configure_memory();
	log_configure(config_env("CODEX_LOG"));
	if (!config_env_wants_whole_libcurl())
		stand_in_allow(NSSWITCH_FILE);
	signal(SIGPIPE, SIG_IGN); /* a closed pipe becomes an error of write */
	signal(SIGXFSZ, SIG_IGN); /* and so does an exceeded file size limit */
}

/* The worker threads end here: OpenSSL cannot free a thread's memory after its own exit handler has run. */
static int end_process(int status)
{
	struct error err;
	uv_library_shutdown();
	if (auth_store_flush(&err) != 0)
		fprintf(stderr, "codex: the login was refreshed, but not stored: %s; log in again\n", err.text);
	return status;
}

/* Runs a command. argv[at] is its word; options before it belong to the command and are moved after it. */
static int run_word(int argc, char **argv, int at)
{
	const struct cli_word *word = cli_move_word(&codex_command, argv, at);
	if (!word)
		return command_refuse(argv[at]);
	prepare_process();
	return end_process(word->run(argc - 1, argv + 1));
}

/* Runs the terminal. A single word is a prompt there, unless it is like a command or no user can read it; after "--" it
 * is always one. */
static int run_terminal(int argc, char **argv, int at)
{
	bool is_prompt = at == argc || strchr(argv[at], ' ') || (at > 1 && strcmp(argv[at - 1], "--") == 0) ||
	                 (isatty(STDIN_FILENO) && !command_is_like(argv[at]));
	if (!is_prompt)
		return command_refuse(argv[at]);
	prepare_process();
	return end_process(tui_main(argc, argv));
}

int main(int argc, char **argv)
{
	struct cli_result result;
	struct error err;
	int at;
	host_keep_standard_streams();
	if (sandbox_entry_wants(argc, argv))
		sandbox_entry_main(argc, argv);
	sandbox_entry_offer();
	if (patch_main_wants(argc, argv))
		return patch_main(argc, argv);
	if (version_wants_verbose(argc, argv))
		return version_print_verbose();
	if (cli_find_positional(&tui_command_line, argc, argv, &at, &result, &err) != 0)
		return cli_print_error(&codex_command, &err);
	if (result.wants_help)
		cli_print_help(&codex_command, STDOUT_FILENO);
	else if (result.wants_version)
		cli_print_version(&codex_command);
	else
		return at < argc && cli_find_word(&codex_command, argv[at]) ? run_word(argc, argv, at)
		                                                            : run_terminal(argc, argv, at);
	return 0;
}
