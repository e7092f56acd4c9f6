/* `codex mcp-server` serves one client at standard input and output until it closes its side or a signal arrives. */
#include "ui/serve/mcp_server_command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "process/process_reaper.h"
#include "server/mcp/mcp_serve.h"

struct mcp_run {
	struct cli_list overrides;
	/* private */
	VEC(struct str) texts; /* the overrides */
	char *cwd;
	struct loop *loop;
	struct mcp_serve *serve;
	uv_signal_t on_int, on_term;
};

static const struct cli_option rows[] = {
	{.name = "config",
         .letter = 'c',
         .kind = CLI_LIST,
         .offset = offsetof(struct mcp_run, overrides),
         .value = "key=value",
         .doc = "Set a configuration value (TOML) of all sessions; repeatable"},
};

const struct cli_command mcp_server_command = {
	.name = "codex mcp-server",
	.about = "Serve the tools `codex` and `codex-reply` to an MCP client on standard streams.",
	.usage = "Usage: codex mcp-server [OPTIONS]",
	.details = "The first tool starts a session and returns its answer, the second one continues\n"
		   "it. Approvals are requested by elicitation; a client without it denies them.\n"
		   "docs/mcp.md describes arguments, results and notifications.\n",
	.options = rows,
	.option_count = countof(rows),
};

static void on_end(void *self)
{
	struct mcp_run *run = self;
	loop_stop(run->loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct mcp_run *run = handle->data;
	(void)number;
	loop_stop(run->loop);
}

static void watch_signal(struct mcp_run *run, uv_signal_t *handle, int number)
{
	uv_signal_init(loop_uv(run->loop), handle);
	handle->data = run;
	uv_signal_start(handle, on_signal, number);
}

static int serve(struct mcp_run *run, struct services *services, struct error *err)
{
	const struct mcp_serve_options options = {
		.loop = run->loop,
		.services = services,
		.overrides = run->texts.items,
		.override_count = run->texts.count,
		.cwd = run->cwd,
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.on_end = on_end,
		.self = run,
	};
	run->serve = mcp_serve_create(&options, err);
	if (!run->serve)
		return -(int)err->code;
	watch_signal(run, &run->on_int, SIGINT);
	watch_signal(run, &run->on_term, SIGTERM);
	loop_run(run->loop);
	mcp_serve_destroy(run->serve);
	uv_close((uv_handle_t *)&run->on_int, NULL);
	uv_close((uv_handle_t *)&run->on_term, NULL);
	loop_hurry(run->loop);
	return 0;
}

/* Loads the configuration once, so that a mistake in it is reported at the start and not by each call. */
static int check_config(struct mcp_run *run, struct error *err)
{
	const struct config_source source = {
		.cwd = run->cwd,
		.overrides = run->texts.items,
		.override_count = run->texts.count,
	};
	struct config *config = config_load(&source, err);
	config_unref(config);
	return config ? 0 : -(int)err->code;
}

static int start(struct mcp_run *run, struct error *err)
{
	for (size_t i = 0; i < run->overrides.count; i++)
		vec_push(&run->texts, str_of(run->overrides.items[i]));
	run->cwd = realpath(".", NULL);
	if (!run->cwd)
		return error_sys(err, errno, "cannot work in this folder");
	if (isatty(STDIN_FILENO))
		return error_set(err, ERR_usage,
		                 "standard input is a terminal, but codex mcp-server serves MCP clients; for "
		                 "interactive use: codex exec");
	if (check_config(run, err) != 0 || !(run->loop = loop_create(err)))
		return -(int)err->code;
	struct services *services = services_create(run->loop, "codex_mcp_server");
	int status = serve(run, services, err);
	services_destroy(services);
	process_reaper_leave();
	loop_destroy(run->loop);
	return status;
}

int mcp_server_main(int argc, char **argv)
{
	struct mcp_run run = {0};
	struct cli_result words;
	struct error err;
	int status = cli_read(&mcp_server_command, argc, argv, &run, &words);
	if (status < 0) {
		status = start(&run, &err);
		if (status != 0)
			fprintf(stderr, "codex mcp-server: %s\n", err.text);
		status = status != 0 ? error_exit_status(err.code) : 0;
		vec_finish(&run.texts);
		free(run.cwd);
	}
	cli_finish(&mcp_server_command, &run, &words);
	return status;
}
