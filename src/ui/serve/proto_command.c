/* `codex proto`: loads the configuration, runs the server, handles signals and sets the exit status. Standard output
 * carries events only; messages for people go to standard error. */
#include "ui/serve/proto_command.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "net/access_token.h"
#include "process/process_reaper.h"
#include "rollout/rollout_list.h"
#include "server/grpc_text.h"
#include "server/http_proto.h"
#include "server/proto_listen.h"

struct proto_run {
	/* From the command line: */
	struct cli_list overrides;
	const char *wire_profile, *listen, *token_file, *tls_cert, *tls_key, *tls_client_ca, *keep_events, *resume;
	bool no_auto_configure, print_proto;
	/* private */
	char *cwd;
	char *token;       /* NULL: no token is required */
	char *resume_path; /* NULL: start a new session */
	struct config *config;
	struct loop *loop;
	struct proto_server *server;  /* one client, at standard input and output; or */
	struct proto_listen *clients; /* many clients at a socket; or */
	struct http_proto *http;      /* sessions as resources of an HTTP server */
	uv_signal_t on_int, on_term;
	bool was_signalled;
};

#define ROW(field, text, letter_, kind_, value_, choices_, doc_)                                             \
	{                                                                                                    \
		.name = text, .letter = letter_, .kind = kind_, .offset = offsetof(struct proto_run, field), \
		.value = value_, .choices = choices_, .doc = doc_                                            \
	}

static const struct cli_option rows[] = {
	ROW(overrides, "config", 'c', CLI_LIST, "key=value", NULL, "Set a configuration value (TOML); repeatable"),
	ROW(wire_profile, "wire-profile", 0, CLI_TEXT, "NAME", "v1-2026-01|v1-2025-10|legacy2025|doc",
            "Generation of the events"),
	ROW(listen, "listen", 0, CLI_TEXT, "URL", NULL,
            "Serve many clients: unix://PATH, tcp://, http:// or https://IP:PORT, http+unix://PATH"),
	ROW(token_file, "token-file", 0, CLI_TEXT, "FILE", NULL, "Clients must send the token in FILE"),
	ROW(tls_cert, "tls-cert", 0, CLI_TEXT, "FILE", NULL, "With https://: the server's certificate (PEM)"),
	ROW(tls_key, "tls-key", 0, CLI_TEXT, "FILE", NULL, "With https://: its private key (PEM)"),
	ROW(tls_client_ca, "tls-client-ca", 0, CLI_TEXT, "FILE", NULL,
            "With https://: clients need a certificate of this CA (PEM)"),
	ROW(keep_events, "keep-events", 0, CLI_TEXT, "N", NULL,
            "With http://: replay the last N events of a session [10000]"),
	ROW(resume, "resume", 0, CLI_TEXT, "SESSION", NULL, "Continue a recorded session: an id or a name"),
	ROW(no_auto_configure, "no-auto-configure", 0, CLI_FLAG, NULL, NULL,
            "Start without a session; the client sends configure_session"),
	ROW(print_proto, "print-proto", 0, CLI_FLAG, NULL, NULL, "Print the description of the gRPC service and exit"),
};

static const char details[] =
	"Example:\n"
	"  $ printf '%s\\n' '{\"id\":\"1\",\"op\":{\"type\":\"user_input\",\"items\":[{\"type\":\"text\",\n"
	"      \"text\":\"hello\"}]}}' | tr -d '\\n' | codex proto\n"
	"\n"
	"A line that is not a submission is reported on stderr and has no effect. At the\n"
	"end of its input the program finishes the running task and exits. All operations\n"
	"and events are in docs/protocol.md.\n"
	"\n"
	"Every user and program of this machine can connect to tcp://127.0.0.1:PORT and\n"
	"then run commands as you: use unix://PATH, which only you can connect to, or\n"
	"--token-file. Web pages cannot connect: an HTTP client is disconnected.\n"
	"\n"
	"Listening for other machines requires a token. Only https:// is encrypted;\n"
	"otherwise use a private network or a tunnel. At tcp:// a client's first line is\n"
	"{\"token\":\"…\"}; `codex debug-client` sends it:\n"
	"  $ openssl rand -hex 32 > token && chmod 600 token\n"
	"  $ codex proto --listen tcp://10.0.0.5:7000 --token-file token\n"
	"\n"
	"At http://, https:// and http+unix:// sessions outlive connections: they are\n"
	"opened, watched from any event on, and closed by requests, also of gRPC. The\n"
	"token is a bearer token there. docs/http.md has the endpoints.\n";

const struct cli_command proto_command = {
	.name = "codex proto",
	.about = "Speak the protocol: submissions as lines of JSON on standard input, events on standard output.",
	.usage = "Usage: codex proto [OPTIONS]",
	.details = details,
	.options = rows,
	.option_count = countof(rows),
};

static int load(struct proto_run *run, struct error *err)
{
	VEC(struct str) overrides = {0};
	struct config_flag flag = {"--wire-profile", "wire_profile", str_of(run->wire_profile)};
	for (size_t i = 0; i < run->overrides.count; i++)
		vec_push(&overrides, str_of(run->overrides.items[i]));
	run->cwd = realpath(".", NULL);
	if (!run->cwd) {
		vec_finish(&overrides);
		return error_sys(err, errno, "cannot work in this folder");
	}
	struct config_source source = {
		.cwd = run->cwd,
		.overrides = overrides.items,
		.override_count = overrides.count,
		.flags = &flag,
		.flag_count = run->wire_profile ? 1 : 0,
	};
	run->config = config_load(&source, err);
	vec_finish(&overrides);
	return run->config ? 0 : -(int)err->code;
}

static char *find_rollout(struct str id_or_name, void *self, struct error *err)
{
	struct proto_run *run = self;
	const char *home = config_home(run->config);
	return uuid_is_valid(id_or_name) ? rollout_list_find_id(home, id_or_name, err)
	                                 : rollout_list_find_name(home, id_or_name, err);
}

static int find_session(struct proto_run *run, struct error *err)
{
	if (!run->resume)
		return 0;
	if (run->listen || run->no_auto_configure)
		return error_set(err, ERR_usage, "--resume cannot be used with --%s",
		                 run->listen ? "listen" : "no-auto-configure");
	run->resume_path = find_rollout(str_of(run->resume), run, err);
	return run->resume_path ? 0 : error_wrap(err, "no session to resume");
}

static void print_warnings(const struct config *config)
{
	size_t count;
	const char *const *warnings = config_warnings(config, &count);
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "warning: %s\n", warnings[i]);
}

static void on_end(void *self)
{
	struct proto_run *run = self;
	loop_stop(run->loop);
}

/* The first signal starts an orderly shutdown; the second one ends the program at once. */
static void on_signal(uv_signal_t *handle, int number)
{
	struct proto_run *run = handle->data;
	(void)number;
	if (run->was_signalled) {
		loop_stop(run->loop);
		return;
	}
	run->was_signalled = true;
	if (run->http)
		http_proto_shut_down(run->http);
	else if (run->clients)
		proto_listen_shut_down(run->clients);
	else
		proto_server_shut_down(run->server);
}

static void watch_signal(struct proto_run *run, uv_signal_t *handle, int number)
{
	uv_signal_init(loop_uv(run->loop), handle);
	handle->data = run;
	uv_signal_start(handle, on_signal, number);
}

/* Returns a server of HTTP requests; NULL and err on failure. */
static struct http_proto *open_http(struct proto_run *run, struct services *services, struct error *err)
{
	uint64_t keep_events = 10000;
	if (run->keep_events &&
	    (!str_to_u64(str_of(run->keep_events), &keep_events) || !keep_events || keep_events > LIMIT_KEPT_EVENTS)) {
		error_set(err, ERR_usage, "--keep-events %s: expected a number from 1 to %d", run->keep_events,
		          LIMIT_KEPT_EVENTS);
		return NULL;
	}
	struct http_proto_options options = {
		.loop = run->loop,
		.engine = {services, run->config, run->cwd},
		.no_auto_configure = run->no_auto_configure,
		.token = run->token,
		.tls = {run->tls_cert, run->tls_key, run->tls_client_ca},
		.keep_events = keep_events,
		.find_rollout = find_rollout,
		.on_end = on_end,
		.self = run,
	};
	return http_proto_create(&options, run->listen, err);
}

static bool is_http(const char *address)
{
	return address && http_proto_is_address(address);
}

static int open_server(struct proto_run *run, struct services *services, struct error *err)
{
	struct proto_options options = {
		.loop = run->loop,
		.engine = {services, run->config, run->cwd},
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.no_auto_configure = run->no_auto_configure,
		.token = run->token,
		.resume_path = run->resume_path,
		.on_end = on_end,
		.self = run,
	};
	if (is_http(run->listen))
		run->http = open_http(run, services, err);
	else if (run->listen)
		run->clients = proto_listen_create(&options, run->listen, err);
	else
		run->server = proto_server_create(&options, err);
	return run->http || run->clients || run->server ? 0 : -(int)err->code;
}

static int serve(struct proto_run *run, struct services *services, struct error *err)
{
	int status = open_server(run, services, err);
	if (status != 0)
		return status;
	watch_signal(run, &run->on_int, SIGINT);
	watch_signal(run, &run->on_term, SIGTERM);
	if (run->listen) /* printed last, because the reader may send a signal at once */
		fprintf(stderr, "listening on %s\n",
		        run->http ? http_proto_address(run->http) : proto_listen_address(run->clients));
	loop_run(run->loop);
	proto_server_destroy(run->server);
	proto_listen_destroy(run->clients);
	if (run->http) {
		http_proto_destroy(run->http);
		loop_hurry(run->loop);
	}
	uv_close((uv_handle_t *)&run->on_int, NULL);
	uv_close((uv_handle_t *)&run->on_term, NULL);
	return 0;
}

static int run_loop(struct proto_run *run, struct error *err)
{
	run->loop = loop_create(err);
	if (!run->loop)
		return -(int)err->code;
	const char *originator = config_env("CODEX_INTERNAL_ORIGINATOR_OVERRIDE");
	struct services *services = services_create(run->loop, originator ? originator : "codex_proto");
	int status = serve(run, services, err);
	services_destroy(services);
	process_reaper_leave();
	loop_destroy(run->loop);
	return status;
}

static int start(struct proto_run *run, struct error *err)
{
	if (run->print_proto) {
		printf("%.*s\n", (int)grpc_text_codex.len, grpc_text_codex.ptr);
		return 0;
	}
	if (!run->listen && isatty(STDIN_FILENO))
		return error_set(
			err, ERR_usage,
			"standard input is a terminal, but codex proto reads JSON; for interactive use: codex exec");
	if (run->token_file && !run->listen)
		return error_set(err, ERR_usage,
		                 "--token-file requires --listen; clients on standard input send no token");
	if (run->keep_events && !is_http(run->listen))
		return error_set(err, ERR_usage, "--keep-events requires --listen http://IP:PORT");
	if ((run->tls_cert || run->tls_key || run->tls_client_ca) && !is_http(run->listen))
		return error_set(err, ERR_usage,
		                 "--tls-cert, --tls-key and --tls-client-ca require --listen https://IP:PORT");
	if (run->token_file && !(run->token = access_token_read(run->token_file, err)))
		return -(int)err->code;
	int status = load(run, err);
	if (status != 0 || (status = find_session(run, err)) != 0)
		return status;
	print_warnings(run->config);
	return run_loop(run, err);
}

int proto_main(int argc, char **argv)
{
	struct proto_run run = {0};
	struct cli_result words;
	struct error err;
	int status = cli_read(&proto_command, argc, argv, &run, &words);
	if (status < 0) {
		status = start(&run, &err);
		if (status != 0)
			fprintf(stderr, "codex proto: %s\n", err.text);
		status = status != 0 ? error_exit_status(err.code) : 0;
		config_unref(run.config);
		free(run.cwd);
		access_token_free(run.token);
		free(run.resume_path);
	}
	cli_finish(&proto_command, &run, &words);
	return status;
}
