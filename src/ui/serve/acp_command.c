/* `codex acp`: loads the configuration, serves the client at standard input and output, handles signals and sets the
 * exit status. Standard output carries the protocol only. */
#include "ui/serve/acp_command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acp/acp_server.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/nsswitch.h"
#include "base/stand_in.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "process/process_reaper.h"
#include "ui/fleet/fleet_options.h"

enum { SIGNALS = 3 };

struct acp_run {
	struct cli_list overrides; /* from the command line */
	/* private */
	VEC(struct str) texts;
	char *cwd;
	struct config *config;
	struct loop *loop;
	uv_signal_t signals[SIGNALS];
};

static const struct cli_option rows[] = {
	{.name = "config",
         .letter = 'c',
         .kind = CLI_LIST,
         .offset = offsetof(struct acp_run, overrides),
         .value = "key=value",
         .doc = "Set a configuration value (TOML); repeatable"},
};

static const char details[] = "Editors start this program and speak the Agent Client Protocol with it:\n"
			      "JSON-RPC, one message per line. It ends, with all its commands, when its input\n"
			      "ends.\n"
			      "\n"
			      "Zed, in settings.json:\n"
			      "  \"agent_servers\": {\n"
			      "    \"Codex\": {\"type\": \"custom\", \"command\": \"codex\", \"args\": [\"acp\"]}}\n"
			      "\n"
			      "docs/acp.md has the settings of other editors, and all methods.\n" FLEET_DETAILS;

const struct cli_command acp_command = {
	.name = "codex acp",
	.about = "Serve an editor: the Agent Client Protocol on standard input and output.",
	.usage = "Usage: codex acp [OPTIONS]",
	.details = details,
	.options = rows,
	.option_count = countof(rows),
};

static void on_end(void *self)
{
	struct acp_run *run = self;
	loop_stop(run->loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct acp_run *run = handle->data;
	(void)number;
	loop_stop(run->loop);
}

static void watch_signals(struct acp_run *run)
{
	static const int numbers[SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
	for (size_t i = 0; i < SIGNALS; i++) {
		uv_signal_init(loop_uv(run->loop), &run->signals[i]);
		run->signals[i].data = run;
		uv_signal_start(&run->signals[i], on_signal, numbers[i]);
	}
}

static int serve(struct acp_run *run, struct services *services, struct error *err)
{
	const struct acp_options options = {
		.loop = run->loop,
		.services = services,
		.config = run->config,
		.overrides = run->texts.items,
		.override_count = run->texts.count,
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.on_end = on_end,
		.self = run,
	};
	struct acp_server *server = acp_server_create(&options, err);
	if (!server)
		return -(int)err->code;
	watch_signals(run);
	loop_run(run->loop);
	acp_server_destroy(server);
	for (size_t i = 0; i < SIGNALS; i++)
		uv_close((uv_handle_t *)&run->signals[i], NULL);
	loop_hurry(run->loop);
	return 0;
}

static int run_loop(struct acp_run *run, struct error *err)
{
	run->loop = loop_create(err);
	if (!run->loop)
		return -(int)err->code;
	const char *originator = config_env("CODEX_INTERNAL_ORIGINATOR_OVERRIDE");
	struct services *services = services_create(run->loop, originator ? originator : "codex_acp");
	int status = serve(run, services, err);
	services_destroy(services);
	process_reaper_leave();
	loop_destroy(run->loop);
	return status;
}

static int start(struct acp_run *run, struct error *err)
{
	if (isatty(STDIN_FILENO))
		return error_set(
			err, ERR_usage,
			"standard input is a terminal, but codex acp reads JSON; for interactive use: codex exec");
	for (size_t i = 0; i < run->overrides.count; i++)
		vec_push(&run->texts, str_of(run->overrides.items[i]));
	run->cwd = realpath(".", NULL);
	if (!run->cwd)
		return error_sys(err, errno, "cannot work in this folder");
	struct config_source source = {
		.cwd = run->cwd, .overrides = run->texts.items, .override_count = run->texts.count};
	run->config = config_load(&source, err);
	return run->config ? run_loop(run, err) : -(int)err->code;
}

int acp_main(int argc, char **argv)
{
	struct acp_run run = {0};
	struct cli_result words;
	struct error err;
	int status = cli_read(&acp_command, argc, argv, &run, &words);
	if (status < 0) {
		if (!config_env_wants_whole_libcurl())
			stand_in_allow(NSSWITCH_FILE);
		status = start(&run, &err);
		if (status != 0)
			fprintf(stderr, "codex acp: %s\n", err.text);
		status = status != 0 ? error_exit_status(err.code) : 0;
		config_unref(run.config);
		vec_finish(&run.texts);
		free(run.cwd);
	}
	cli_finish(&acp_command, &run, &words);
	return status;
}
