/* No configuration is loaded: all that matters is where the socket is. */
#include "ui/serve/app_server_proxy_command.h"

#include <stddef.h>
#include <stdio.h>

#include "app_server/app_server_proxy.h"
#include "base/error.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "ui/serve/app_server_options.h"

struct proxy_options {
	struct cli_list overrides; /* taken and without effect: the server has its own */
	const char *socket;
};

static const struct cli_option rows[] = {
	{.name = "sock",
         .kind = CLI_TEXT,
         .offset = offsetof(struct proxy_options, socket),
         .value = "FILE",
         .doc = "The server's socket, if it is not that of --listen unix://"},
	{.name = "config",
         .letter = 'c',
         .kind = CLI_LIST,
         .offset = offsetof(struct proxy_options, overrides),
         .value = "key=value"},
};

const struct cli_command app_server_proxy_command = {
	.name = "codex app-server proxy",
	.about = "Share an app-server that runs already, as if it were one of your own.",
	.usage = "Usage: codex app-server proxy [OPTIONS]",
	.details = "Lines on standard input and output are carried to the server's socket. A client\n"
		   "that begins with an HTTP request speaks WebSocket through it.\n"
		   "Start a server with: codex app-server daemon start\n",
	.options = rows,
	.option_count = countof(rows),
};

static int run(const struct proxy_options *options, struct error *err)
{
	if (options->socket)
		return app_server_proxy_run(options->socket, err);
	auto_free char *home = config_env_home(err);
	if (!home)
		return -(int)err->code;
	auto_free char *path = app_server_options_socket(home);
	return app_server_proxy_run(path, err);
}

int app_server_proxy_main(int argc, char **argv)
{
	struct proxy_options options = {0};
	struct cli_result words;
	struct error err;
	int status = cli_read(&app_server_proxy_command, argc, argv, &options, &words);
	if (status < 0) {
		status = run(&options, &err);
		if (status != 0)
			fprintf(stderr, "codex app-server proxy: %s\n", err.text);
		if (status != 0 && err.code == ERR_connect)
			fputs("Start a server with: codex app-server daemon start\n", stderr);
		status = status != 0 ? error_exit_status(err.code) : 0;
	}
	cli_finish(&app_server_proxy_command, &options, &words);
	return status;
}
