/* `codex app-server`: loads the configuration, serves clients at standard input and output or at a socket, and sets
 * the exit status. When a client at standard input disconnects, commands are killed and the program exits. At a
 * socket clients come and go, and only a signal ends the program. */
#include "ui/serve/app_server_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "app_server/app_server.h"
#include "app_server/app_server_daemon.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "process/process_reaper.h"
#include "transport/inherited_socket.h"
#include "transport/transport_listen.h"
#include "ui/fleet/fleet_options.h"
#include "ui/serve/app_server_daemon_command.h"
#include "ui/serve/app_server_generate_command.h"
#include "ui/serve/app_server_options.h"

enum { SIGNALS = 3 };

struct app_server_run {
	struct app_server_options_read options;
	enum app_server_place place;
	VEC(struct str) overrides;
	char *cwd;
	struct config *config;
	struct error config_error; /* ERR_none unless reading the configuration failed */
	struct bearer *bearer;
	struct loop *loop;
	struct app_server *server;
	struct app_server_listen *listen; /* NULL: the client is at standard input and output */
	uv_signal_t signals[SIGNALS];
	int signal; /* the signal that ended the program */
};

static const char details[] = "Messages are JSON-RPC without the member `jsonrpc`: one per line, or one per\n"
			      "WebSocket message. The first request is `initialize`. On standard streams the\n"
			      "server exits when its input ends; at unix:// or ws:// it serves any number of\n"
			      "clients until it receives a signal.\n"
			      "docs/app-server.md lists all methods and notifications.\n";

static int run_generate(int argc, char **argv);

/* clang-format off */
static const struct cli_word app_server_words[] = {
	{.word = "daemon", .doc = "Start, stop or query a background server",
	 .command = &app_server_daemon_command, .run = app_server_daemon_main},
	{.word = "proxy", .doc = "Connect standard input and output to a running server",
	 .command = &app_server_proxy_command, .run = app_server_proxy_main},
	{.word = "generate-ts", .doc = "Write the protocol as TypeScript types",
	 .command = &app_server_generate_ts_command, .run = run_generate},
	{.word = "generate-json-schema", .doc = "Write the protocol as JSON Schema",
	 .command = &app_server_generate_schema_command, .run = run_generate},
};
/* clang-format on */

const struct cli_command app_server_command = {
	.name = "codex app-server",
	.about = "Serve editors and other clients: JSON-RPC on standard streams or WebSockets.",
	.usage = "Usage: codex app-server [OPTIONS]\n"
		 "       codex app-server <COMMAND> [OPTIONS]",
	.details = details,
	.words = app_server_words,
	.word_count = countof(app_server_words),
	.options = app_server_option_rows,
	.option_count = countof(app_server_option_rows),
};

/* Scripts of editors pass this option before each word, as codex 0.169 permits. It has no effect on any. */
static int run_generate(int argc, char **argv)
{
	int count = 0;
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--analytics-default-enabled") != 0)
			argv[count++] = argv[i];
	}
	argv[count] = NULL;
	return fleet_run(cli_find_word(&app_server_command, argv[0])->command, count, argv);
}

static void on_client_end(size_t left, void *self)
{
	struct app_server_run *run = self;
	if (!left && !run->listen)
		loop_stop(run->loop);
}

static void on_hooks_end(void *self)
{
	struct app_server_run *run = self;
	loop_stop(run->loop);
}

/* The first signal starts an orderly end; one during the SessionEnd hooks kills them. */
static void on_signal(uv_signal_t *handle, int number)
{
	struct app_server_run *run = handle->data;
	run->signal = number;
	loop_stop(run->loop);
}

static void watch_signals(struct app_server_run *run)
{
	static const int numbers[SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
	for (size_t i = 0; i < SIGNALS; i++) {
		uv_signal_init(loop_uv(run->loop), &run->signals[i]);
		run->signals[i].data = run;
		uv_signal_start(&run->signals[i], on_signal, numbers[i]);
	}
}

static void close_signals(struct app_server_run *run)
{
	for (size_t i = 0; i < SIGNALS; i++)
		uv_close((uv_handle_t *)&run->signals[i], NULL);
}

/* ---- where clients come ---- */

/* Locks the folder, so that of two servers that start at once neither removes the other's socket as stale. */
static int lock_folder(const char *folder, struct error *err)
{
	auto_free char *path = path_join(folder, "app-server-startup.lock");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && flock(fd, LOCK_EX) == 0)
		return fd;
	error_sys(err, errno, "cannot lock %s", path);
	if (fd >= 0)
		close(fd);
	return -1;
}

static int listen_default(struct app_server_run *run, struct error *err)
{
	auto_free char *path = app_server_daemon_socket(config_home(run->config));
	auto_free char *folder = str_dup(path_dir(path));
	auto_free char *address = xasprintf("unix://%s", path);
	if (dir_make(folder, 0700, err) != 0)
		return error_wrap(err, "cannot make the folder of the socket");
	auto_close int lock = lock_folder(folder, err);
	if (lock < 0)
		return -(int)err->code;
	const struct app_server_address where = {.loop = run->loop, .address = address};
	run->listen = app_server_listen_create(run->server, &where, err);
	return run->listen ? 0 : -(int)err->code;
}

/* Serves the socket that systemd has passed on. Commands do not inherit the variables that describe it. */
static int listen_inherited(struct app_server_run *run, struct error *err)
{
	int fd = inherited_socket_find(config_env("LISTEN_PID"), config_env("LISTEN_FDS"), err);
	if (fd < 0)
		return -(int)err->code;
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	auto_free char *address = xasprintf("fd://%d", fd);
	const struct app_server_address where = {
		.loop = run->loop,
		.address = address,
		.bearer = run->bearer,
		.hosts = run->options.hosts.items,
		.host_count = run->options.hosts.count,
	};
	run->listen = app_server_listen_create(run->server, &where, err);
	return run->listen ? 0 : -(int)err->code;
}

static void print_banner(const struct app_server_run *run)
{
	const char *where = app_server_listen_address(run->listen) + strlen("ws://");
	bool is_local = transport_listener_is_local(run->options.listen);
	fprintf(stderr,
	        "codex app-server (WebSockets)\n  listening on: ws://%s\n  readyz: http://%s/readyz\n"
	        "  healthz: http://%s/healthz\n  note: %s\n",
	        where, where, where,
	        is_local ? "binds localhost only (use SSH port-forwarding for remote access)"
	                 : "websocket auth is required for non-localhost listeners");
}

static int listen_at(struct app_server_run *run, struct error *err)
{
	if (run->place == APP_SERVER_UNIX_DEFAULT)
		return listen_default(run, err);
	if (run->place == APP_SERVER_INHERITED)
		return listen_inherited(run, err);
	const struct app_server_address where = {
		.loop = run->loop,
		.address = run->options.listen,
		.bearer = run->bearer,
		.hosts = run->options.hosts.items,
		.host_count = run->options.hosts.count,
	};
	run->listen = app_server_listen_create(run->server, &where, err);
	if (!run->listen)
		return -(int)err->code;
	if (run->place == APP_SERVER_WEB)
		print_banner(run);
	return 0;
}

/* Notifies the process that started the server in the background; it waits for this byte or the end of the file. */
static void notify_starter(const struct app_server_run *run)
{
	uint64_t fd;
	if (!run->options.ready_fd || !str_to_u64(str_of(run->options.ready_fd), &fd) || fd > INT_MAX)
		return;
	best_effort(fd_write_all((int)fd, "ready\n", 6, NULL));
	close((int)fd);
}

static int open_place(struct app_server_run *run, struct error *err)
{
	watch_signals(run); /* first, because the starting process may send a signal at once */
	if (run->place == APP_SERVER_STDIO)
		return app_server_connect_stdio(run->server, STDIN_FILENO, STDOUT_FILENO, err);
	int status = listen_at(run, err);
	if (status == 0)
		notify_starter(run);
	return status;
}

/* ---- from start to end ---- */

static int serve(struct app_server_run *run, struct services *services, struct error *err)
{
	struct app_server_options options = {
		.loop = run->loop,
		.services = services,
		.config = run->config,
		.config_error = run->config_error.code != ERR_none ? run->config_error.text : NULL,
		.cwd = run->cwd,
		.overrides = run->overrides.items,
		.override_count = run->overrides.count,
		.is_strict = run->options.strict,
		.is_attachable = run->place != APP_SERVER_STDIO,
		.on_client_end = on_client_end,
		.self = run,
	};
	run->server = app_server_create(&options);
	int status = open_place(run, err);
	if (status == 0)
		loop_run(run->loop);
	app_server_listen_destroy(run->listen);
	if (status == 0 && app_server_end(run->server, on_hooks_end, run))
		loop_run(run->loop);
	app_server_destroy(run->server);
	close_signals(run);
	loop_hurry(run->loop);
	return status;
}

static int run_loop(struct app_server_run *run, struct error *err)
{
	run->loop = loop_create(err);
	if (!run->loop)
		return -(int)err->code;
	const char *originator = config_env("CODEX_INTERNAL_ORIGINATOR_OVERRIDE");
	struct services *services = services_create(run->loop, originator ? originator : "codex_app_server");
	int status = serve(run, services, err);
	services_destroy(services);
	process_reaper_leave();
	loop_destroy(run->loop);
	return status;
}

/* Loads the defaults. If a configuration file has an error, clients are served and warned, so that an editor can
 * show its location. An error on the command line still ends the program. */
static int load_defaults(struct app_server_run *run, struct config_source source, struct error *err)
{
	struct error other;
	source.ignore_user_config = true;
	source.ignore_project = true;
	source.system_file = "/dev/null";
	run->config = config_load(&source, &other);
	*err = run->config_error;
	if (!run->config)
		return -(int)err->code;
	fprintf(stderr, "codex app-server: Invalid configuration; using defaults. %s\n", err->text);
	return 0;
}

static int load(struct app_server_run *run, struct error *err)
{
	for (size_t i = 0; i < run->options.overrides.count; i++)
		vec_push(&run->overrides, str_of(run->options.overrides.items[i]));
	run->cwd = realpath(".", NULL);
	if (!run->cwd)
		return error_sys(err, errno, "cannot work in this folder");
	struct config_source source = {
		.cwd = run->cwd,
		.overrides = run->overrides.items,
		.override_count = run->overrides.count,
		.is_strict = run->options.strict,
	};
	run->config = config_load(&source, &run->config_error);
	if (!run->config && run->options.strict) {
		*err = run->config_error;
		return -(int)err->code;
	}
	return run->config ? 0 : load_defaults(run, source, err);
}

static int start(struct app_server_run *run, struct error *err)
{
	if (run->place == APP_SERVER_OFF)
		return error_set(err, ERR_config, "`--listen off` leaves no transport; name one, such as stdio://");
	bool has_port = run->place == APP_SERVER_WEB || run->place == APP_SERVER_INHERITED;
	int status = has_port ? bearer_create(&run->options.bearer, &run->bearer, err) : 0;
	if (status == 0)
		status = load(run, err);
	return status == 0 ? run_loop(run, err) : status;
}

/* Ends the process by the signal, so that a client at standard input and output sees the usual status. */
static void end_by_signal(const struct app_server_run *run)
{
	if (run->place != APP_SERVER_STDIO || (run->signal != SIGINT && run->signal != SIGHUP))
		return;
	signal(run->signal, SIG_DFL);
	raise(run->signal);
}

static int run_command(struct app_server_run *run)
{
	struct error err;
	if (app_server_options_place(&run->options, &run->place, &err) != 0)
		return cli_print_error(&app_server_command, &err);
	int status = start(run, &err);
	if (status != 0)
		fprintf(stderr, "codex app-server: %s\n", err.text);
	config_unref(run->config);
	bearer_destroy(run->bearer);
	vec_finish(&run->overrides);
	free(run->cwd);
	end_by_signal(run);
	return status != 0 ? error_exit_status(err.code) : 0;
}

/* Runs a subcommand; returns -1 if the command line has none. Options before it belong to it. */
static int run_word(int argc, char **argv)
{
	struct cli_result words;
	int at;
	if (cli_find_positional(&app_server_command, argc, argv, &at, &words, NULL) != 0 || at >= argc)
		return -1;
	const struct cli_word *word = cli_move_word(&app_server_command, argv, at);
	return word ? word->run(argc - 1, argv + 1) : -1;
}

int app_server_main(int argc, char **argv)
{
	struct app_server_run run = {0};
	struct cli_result words;
	int status = run_word(argc, argv);
	if (status >= 0)
		return status;
	status = cli_read(&app_server_command, argc, argv, &run.options, &words);
	if (status < 0)
		status = run_command(&run);
	cli_finish(&app_server_command, &run.options, &words);
	return status;
}
