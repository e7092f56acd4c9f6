/* Commands for an app-server in the background: `daemon` prints its result as one line of JSON, as programs that use
 * codex 0.169 expect; `proxy` connects standard input and output to the server. */
#include "ui/serve/app_server_daemon_command.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "app_server/app_server_daemon.h"
#include "app_server/app_server_proxy.h"
#include "base/error.h"
#include "base/file.h"
#include "base/host.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "ui/serve/app_server_options.h"

struct daemon_options {
	struct cli_list overrides;
};

static const struct cli_option rows[] = {
	{.name = "config",
         .letter = 'c',
         .kind = CLI_LIST,
         .offset = offsetof(struct daemon_options, overrides),
         .value = "key=value",
         .doc = "Set a configuration value (TOML) of a server that is started; repeatable"},
};

static const struct cli_word daemon_words[] = {
	{.word = "start", .doc = "Start the server if it is not running; wait until it accepts clients"},
	{.word = "stop", .doc = "Stop the server and wait until it has exited"},
	{.word = "restart", .doc = "stop, then start"},
	{.word = "status", .doc = "Show whether the server is running; exit status 1 if not"},
	{.word = "version", .doc = "Print the server's version; fail if it is not running"},
};

const struct cli_command app_server_daemon_command = {
	.name = "codex app-server daemon",
	.about = "Manage a background server that all clients of this CODEX_HOME share.",
	.usage = "Usage: codex app-server daemon [OPTIONS] <COMMAND>",
	.details = "Clients connect to unix://, or run: codex app-server proxy\nThe server's messages are in "
		   "$CODEX_HOME/app-server-daemon/daemon.stderr.log.\n",
	.words = daemon_words,
	.word_count = countof(daemon_words),
	.options = rows,
	.option_count = countof(rows),
};

static int print(const struct app_server_daemon *daemon, const char *status)
{
	char path[PATH_MAX];
	auto_buf struct buf out;
	bool is_known = host_program_path(path, sizeof(path));
	buf_init(&out, 64 * KIB);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_cstr(&w, "status", status);
	if (daemon->pid) {
		jw_member_cstr(&w, "backend", "pid");
		jw_member_i64(&w, "pid", daemon->pid);
	}
	jw_member_str(&w, "managedCodexPath", is_known ? str_of(path) : STR_NONE);
	jw_member_cstr(&w, "managedCodexVersion", CODEX_VERSION);
	jw_member_cstr(&w, "socketPath", daemon->socket);
	jw_member_cstr(&w, "cliVersion", CODEX_VERSION);
	if (daemon->pid)
		jw_member_cstr(&w, "appServerVersion", daemon->version[0] ? daemon->version : NULL);
	jw_object_end(&w);
	buf_append_char(&out, '\n');
	return fd_write_all(STDOUT_FILENO, out.data, out.len, NULL);
}

/* These return an exit status, or a negative error. */
static int run_start(struct app_server_daemon *daemon, struct error *err)
{
	bool ran;
	int status = app_server_daemon_start(daemon, &ran, err);
	return status == 0 ? print(daemon, ran ? "alreadyRunning" : "started") : status;
}

static int run_stop(struct app_server_daemon *daemon, struct error *err)
{
	bool ran;
	int status = app_server_daemon_stop(daemon, &ran, err);
	daemon->pid = 0;
	return status == 0 ? print(daemon, ran ? "stopped" : "notRunning") : status;
}

static int run_restart(struct app_server_daemon *daemon, struct error *err)
{
	bool ran;
	int status = app_server_daemon_stop(daemon, &ran, err);
	return status == 0 ? run_start(daemon, err) : status;
}

static int run_status(struct app_server_daemon *daemon, struct error *err)
{
	bool runs = app_server_daemon_find(daemon, err);
	if (!runs && err->code == ERR_timeout)
		return -ERR_timeout;
	print(daemon, runs ? "running" : "notRunning");
	return runs ? 0 : 1;
}

static int run_version(struct app_server_daemon *daemon, struct error *err)
{
	bool runs = app_server_daemon_find(daemon, err);
	if (!runs && err->code == ERR_timeout)
		return -ERR_timeout;
	if (!runs)
		return error_set(err, ERR_connect,
		                 "no server listens at %s; start one with: codex app-server daemon start",
		                 daemon->socket);
	return print(daemon, "running");
}

static int (*const runs[])(struct app_server_daemon *daemon, struct error *err) = {
	run_start, run_stop, run_restart, run_status, run_version,
};
_Static_assert(countof(runs) == countof(daemon_words), "a word without a function");

static int run(const struct daemon_options *options, size_t word, struct error *err)
{
	auto_free char *home = config_env_home(err);
	if (!home)
		return -(int)err->code;
	auto_free char *path = app_server_daemon_socket(home);
	struct app_server_daemon daemon = {
		.home = home,
		.socket = path,
		.overrides = options->overrides.items,
		.override_count = options->overrides.count,
	};
	return runs[word](&daemon, err);
}

int app_server_daemon_main(int argc, char **argv)
{
	struct daemon_options options = {0};
	struct cli_result words;
	struct error err;
	int status = cli_read(&app_server_daemon_command, argc, argv, &options, &words);
	if (status < 0 && !words.word) {
		cli_print_help(&app_server_daemon_command, STDERR_FILENO);
		status = 2;
	} else if (status < 0) {
		status = run(&options, (size_t)(words.word - daemon_words), &err);
		if (status < 0) {
			fprintf(stderr, "codex app-server daemon %s: %s\n", words.word->word, err.text);
			status = error_exit_status(err.code);
		}
	}
	cli_finish(&app_server_daemon_command, &options, &words);
	return status;
}

/* ---- codex app-server proxy ---- */

struct proxy_options {
	struct cli_list overrides; /* accepted without effect: the server has its own configuration */
	const char *socket;
};

static const struct cli_option proxy_rows[] = {
	{.name = "sock",
         .kind = CLI_TEXT,
         .offset = offsetof(struct proxy_options, socket),
         .value = "FILE",
         .doc = "The server's socket (default: that of --listen unix://)"},
	{.name = "config",
         .letter = 'c',
         .kind = CLI_LIST,
         .offset = offsetof(struct proxy_options, overrides),
         .value = "key=value"},
};

const struct cli_command app_server_proxy_command = {
	.name = "codex app-server proxy",
	.about = "Connect standard input and output to a running app-server.",
	.usage = "Usage: codex app-server proxy [OPTIONS]",
	.details = "Relays lines of JSON. If the input begins with an HTTP request, the bytes are\nrelayed unchanged, "
		   "for clients that speak WebSocket.\n"
		   "Start a server with: codex app-server daemon start\n",
	.options = proxy_rows,
	.option_count = countof(proxy_rows),
};

static int proxy_run(const struct proxy_options *options, struct error *err)
{
	if (options->socket)
		return app_server_proxy_run(options->socket, err);
	auto_free char *home = config_env_home(err);
	if (!home)
		return -(int)err->code;
	auto_free char *path = app_server_daemon_socket(home);
	return app_server_proxy_run(path, err);
}

int app_server_proxy_main(int argc, char **argv)
{
	struct proxy_options options = {0};
	struct cli_result words;
	struct error err;
	int status = cli_read(&app_server_proxy_command, argc, argv, &options, &words);
	if (status < 0) {
		status = proxy_run(&options, &err);
		if (status != 0)
			fprintf(stderr, "codex app-server proxy: %s\n", err.text);
		if (status != 0 && err.code == ERR_connect)
			fputs("Start a server with: codex app-server daemon start\n", stderr);
		status = status != 0 ? error_exit_status(err.code) : 0;
	}
	cli_finish(&app_server_proxy_command, &options, &words);
	return status;
}
