/* The command around the app-server: configuration in, one client at standard input and output, an exit status. When
 * that client has gone, so has the reason to run: commands are killed and the program leaves. */
#include "ui/app_server_command.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "app_server/app_server.h"
#include "base/error.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/codex.h"
#include "loop/loop.h"
#include "process/process_reaper.h"

struct app_server_run {
	/* from the command line */
	struct cli_list overrides;
	/* private */
	char *cwd;
	struct config *config;
	struct loop *loop;
	struct app_server *server;
	uv_signal_t on_term;
};

static const struct cli_option rows[] = {
	{.name = "config", .letter = 'c', .kind = CLI_LIST, .offset = offsetof(struct app_server_run, overrides),
	 .value = "key=value", .doc = "Set a configuration value (TOML); repeatable"},
};

static const char details[] =
	"One JSON-RPC message a line, without the member `jsonrpc`. A client begins with\n"
	"`initialize`; at the end of its input the program ends at once.\n"
	"All methods and notifications are in docs/app-server.md.\n";

const struct cli_command app_server_command = {
	.name = "codex app-server",
	.about = "Serve editors and other clients: JSON-RPC on standard input and output.",
	.usage = "Usage: codex app-server [OPTIONS]",
	.details = details,
	.options = rows,
	.option_count = countof(rows),
};

static void on_client_end(size_t left, void *self)
{
	struct app_server_run *run = self;
	if (!left)
		loop_stop(run->loop);
}

static void on_signal(uv_signal_t *handle, int number)
{
	(void)number;
	loop_stop(((struct app_server_run *)handle->data)->loop);
}

static int serve(struct app_server_run *run, struct services *services, const struct str *overrides, struct error *err)
{
	struct app_server_options options = {
		.loop = run->loop,
		.services = services,
		.config = run->config,
		.cwd = run->cwd,
		.overrides = overrides,
		.override_count = run->overrides.count,
		.on_client_end = on_client_end,
		.self = run,
	};
	run->server = app_server_create(&options);
	int status = app_server_connect_stdio(run->server, STDIN_FILENO, STDOUT_FILENO, err);
	if (status == 0) {
		uv_signal_init(loop_uv(run->loop), &run->on_term);
		run->on_term.data = run;
		uv_signal_start(&run->on_term, on_signal, SIGTERM);
		loop_run(run->loop);
		uv_close((uv_handle_t *)&run->on_term, NULL);
	}
	app_server_destroy(run->server);
	return status;
}

static int run_loop(struct app_server_run *run, const struct str *overrides, struct error *err)
{
	run->loop = loop_create(err);
	if (!run->loop)
		return -(int)err->code;
	const char *originator = config_env("CODEX_INTERNAL_ORIGINATOR_OVERRIDE");
	struct services *services = services_create(run->loop, originator ? originator : "codex_app_server");
	process_reaper_start(run->loop);
	int status = serve(run, services, overrides, err);
	services_destroy(services);
	process_reaper_stop();
	loop_destroy(run->loop);
	return status;
}

static int start(struct app_server_run *run, struct error *err)
{
	VEC(struct str) overrides = {0};
	for (size_t i = 0; i < run->overrides.count; i++)
		vec_push(&overrides, str_of(run->overrides.items[i]));
	run->cwd = realpath(".", NULL);
	int status = run->cwd ? 0 : error_sys(err, errno, "cannot work in this folder");
	struct config_source source = {
		.cwd = run->cwd,
		.overrides = overrides.items,
		.override_count = overrides.count,
	};
	if (status == 0 && !(run->config = config_load(&source, err)))
		status = -(int)err->code;
	if (status == 0)
		status = run_loop(run, overrides.items, err);
	vec_finish(&overrides);
	return status;
}

int app_server_main(int argc, char **argv)
{
	struct app_server_run run = {0};
	struct cli_result words;
	struct error err;
	int status = cli_read(&app_server_command, argc, argv, &run, &words);
	if (status < 0) {
		status = start(&run, &err);
		if (status != 0)
			fprintf(stderr, "codex app-server: %s\n", err.text);
		status = status != 0 ? error_exit_status(err.code) : 0;
		config_unref(run.config);
		free(run.cwd);
	}
	cli_finish(&app_server_command, &run, &words);
	return status;
}
