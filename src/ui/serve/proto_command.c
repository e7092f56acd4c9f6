/* The command line of `codex proto`, and what it serves. The program codex serves standard streams and the sockets of
 * lines; codex-fleet, which it executes for that, serves HTTP. The linker drops from each what the other has. */
#include "ui/serve/proto_command.h"

#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "server/grpc_text.h"
#include "server/http_proto.h"
#include "server/proto_listen.h"
#include "ui/serve/proto_run.h"

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

/* ---- lines, on standard streams or at a socket ---- */

static int open_lines(struct proto_run *run, struct services *services, struct error *err)
{
	struct proto_options options = {
		.loop = run->loop,
		.engine = {services, run->config, run->cwd},
		.in = STDIN_FILENO,
		.out = STDOUT_FILENO,
		.no_auto_configure = run->no_auto_configure,
		.token = run->token,
		.resume_path = run->resume_path,
		.on_end = proto_on_end,
		.self = run,
	};
	if (run->listen)
		run->clients = proto_listen_create(&options, run->listen, err);
	else
		run->server = proto_server_create(&options, err);
	return run->clients || run->server ? 0 : -(int)err->code;
}

static void shut_lines_down(struct proto_run *run)
{
	if (run->clients)
		proto_listen_shut_down(run->clients);
	else
		proto_server_shut_down(run->server);
}

static const char *lines_address(struct proto_run *run)
{
	return proto_listen_address(run->clients);
}

static void close_lines(struct proto_run *run)
{
	proto_server_destroy(run->server);
	proto_listen_destroy(run->clients);
}

int proto_main(int argc, char **argv)
{
	static const struct proto_kind lines = {
		.command = &proto_command,
		.open = open_lines,
		.shut_down = shut_lines_down,
		.address = lines_address,
		.close = close_lines,
	};
	return proto_run(argc, argv, &lines);
}

/* ---- sessions as resources of an HTTP server, also of gRPC ---- */

static int open_http(struct proto_run *run, struct services *services, struct error *err)
{
	uint64_t keep_events = 10000;
	if (run->keep_events &&
	    (!str_to_u64(str_of(run->keep_events), &keep_events) || !keep_events || keep_events > LIMIT_KEPT_EVENTS))
		return error_set(err, ERR_usage, "--keep-events %s: expected a number from 1 to %d", run->keep_events,
		                 LIMIT_KEPT_EVENTS);
	struct http_proto_options options = {
		.loop = run->loop,
		.engine = {services, run->config, run->cwd},
		.no_auto_configure = run->no_auto_configure,
		.token = run->token,
		.tls = {run->tls_cert, run->tls_key, run->tls_client_ca},
		.keep_events = keep_events,
		.find_rollout = proto_find_rollout,
		.on_end = proto_on_end,
		.self = run,
	};
	run->http = http_proto_create(&options, run->listen, err);
	return run->http ? 0 : -(int)err->code;
}

static void shut_http_down(struct proto_run *run)
{
	http_proto_shut_down(run->http);
}

static const char *http_address(struct proto_run *run)
{
	return http_proto_address(run->http);
}

static void close_http(struct proto_run *run)
{
	http_proto_destroy(run->http);
	loop_hurry(run->loop);
}

static int print_description(void)
{
	printf("%.*s\n", (int)grpc_text_codex.len, grpc_text_codex.ptr);
	return 0;
}

int proto_http_main(int argc, char **argv)
{
	static const struct proto_kind http = {
		.command = &proto_command,
		.is_http = true,
		.open = open_http,
		.shut_down = shut_http_down,
		.address = http_address,
		.close = close_http,
		.print_description = print_description,
	};
	return proto_run(argc, argv, &http);
}
