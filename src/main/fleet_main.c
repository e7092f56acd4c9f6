/* The program codex-fleet: the commands that few need, which the program codex executes.
 * The engine starts this program again for sandboxes and patches, like codex itself. */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"
#include "base/file.h"
#include "base/host.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/auth_store.h"
#include "config/config_env.h"
#include "main/gnutls.h"
#include "patch/patch_main.h"
#include "sandbox/sandbox_entry.h"
#include "ui/debug/debug_command.h"
#include "ui/fleet/fleet_call.h"
#include "ui/import/import_command.h"
#include "ui/market/market_command.h"
#include "ui/serve/acp_command.h"
#include "ui/serve/app_server_generate_command.h"
#include "ui/serve/mock_command.h"
#include "ui/serve/proto_command.h"
#include "ui/serve/serve_command.h"

static const struct {
	const char *word;
	int (*run)(struct fleet_call *call);
} rows[] = {
	{"submit", fleet_submit_run},   {"watch", fleet_watch_run}, {"ls", fleet_ls_run},
	{"workers", fleet_workers_run}, {"dead", fleet_dead_run},   {"drain", fleet_drain_run},
	{"requeue", fleet_requeue_run},
};

static int run_word(const struct cli_word *word, int argc, char **argv)
{
	struct fleet_options options = {0};
	struct cli_result result;
	int status = cli_read(word->command, argc, argv, &options, &result);
	struct fleet_call call = {.options = &options};
	if (status < 0)
		call.argument = result.positionals.count ? result.positionals.items[0] : NULL;
	for (size_t i = 0; status < 0 && i < countof(rows); i++) {
		if (strcmp(rows[i].word, word->word) == 0)
			status = rows[i].run(&call);
	}
	cli_finish(word->command, &options, &result);
	return status;
}

/* Options before the word belong to the command and are moved after it. */
static int fleet_main(int argc, char **argv)
{
	struct cli_result result;
	struct error err;
	int at;
	if (cli_find_positional(&fleet_command, argc, argv, &at, &result, &err) != 0)
		return cli_print_error(&fleet_command, &err);
	const struct cli_word *word = at < argc ? cli_find_word(&fleet_command, argv[at]) : NULL;
	if (word) {
		char *text = argv[at];
		memmove(&argv[2], &argv[1], sizeof(*argv) * (size_t)(at - 1));
		argv[1] = text;
		return run_word(word, argc - 1, argv + 1);
	}
	if (at < argc)
		best_effort(cli_unknown_word(&fleet_command, argv[at], &err));
	else if (result.wants_help)
		return cli_print_help(&fleet_command, 1), 0;
	else if (result.wants_version)
		return cli_print_version(&fleet_command), 0;
	else
		error_set(&err, ERR_usage, "a command is missing");
	return cli_print_error(&fleet_command, &err);
}

static const struct {
	const char *word;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"worker", worker_main},
	{"fleet", fleet_main},
	{"serve", serve_main},
	{"acp", acp_main},
	{"mock-model", mock_model_main},
	{"proto", proto_http_main},
	{"import", import_main},
	{"plugin", market_main},
	{"debug-client", debug_client_main},
	{"generate-ts", app_server_generate_ts_main},
	{"generate-json-schema", app_server_generate_schema_main},
};

/* Started by a codex of another version: one of the two was updated alone. A name such as codex-fleet-x86_64 says
 * nothing about the version. */
static bool is_mismatch(const char *name)
{
	struct str rest = path_name(name);
	return str_cut_prefix(&rest, "codex-fleet-") && rest.len && isdigit((unsigned char)rest.ptr[0]) &&
	       !str_is(path_name(name), FLEET_PROGRAM);
}

static int run(int argc, char **argv)
{
	if (argc > 0 && is_mismatch(argv[0])) {
		fprintf(stderr,
		        "codex-fleet: this is version " CODEX_VERSION ", and codex calls for %s: install both in one "
		        "version (codex --version, codex update)\n",
		        argv[0]);
		return 1;
	}
	for (size_t i = 0; argc > 1 && i < countof(commands); i++) {
		if (strcmp(argv[1], commands[i].word) == 0)
			return commands[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "codex-fleet: codex starts it, for commands such as `codex serve` (docs/install.md)\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct error err;
	host_keep_standard_streams();
	if (sandbox_entry_wants(argc, argv))
		sandbox_entry_main(argc, argv);
	sandbox_entry_offer();
	if (patch_main_wants(argc, argv))
		return patch_main(argc, argv);
	host_configure_memory();
	log_configure(config_env("CODEX_LOG"));
	signal(SIGPIPE, SIG_IGN); /* a closed pipe becomes an error of write */
	signal(SIGXFSZ, SIG_IGN); /* and so does an exceeded file size limit */
	int status = run(argc, argv);
	uv_library_shutdown();
	bool is_stored = auth_store_flush(&err) == 0;
	if (!is_stored)
		fprintf(stderr, "codex: the login was refreshed, but not stored: %s; log in again\n", err.text);
	return status;
}
