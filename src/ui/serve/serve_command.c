/* `codex serve`: reads the command line, runs the server and prints links to its page. Standard output has links only;
 * messages for people go to standard error. */
#include "ui/serve/serve_command.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "net/access_token.h"
#include "net/http_url.h"
#include "process/process_reaper.h"
#include "server/http_proto.h"
#include "server/page_access.h"
#include "transport/transport_listen.h"
#include "ui/fleet/fleet_options.h"
#include "ui/serve/serve_link.h"
#include "ui/serve/serve_store.h"

#define DEFAULT_ADDRESS "http://127.0.0.1:7420"

enum { TOKEN_LEAST = 32 };

struct serve_run {
	/* From the command line: */
	struct cli_list overrides, allow_host;
	const char *listen, *url, *token_file, *tls_cert, *tls_key, *keep_events;
	bool plain_http, open;
	/* private */
	char *cwd, *token, *base;
	VEC(const char *) names;
	struct config *config;
	struct loop *loop;
	struct http_proto *http;
	struct page_access *access;
	struct serve_store *store;
	uv_signal_t on_int, on_term;
	bool was_signalled;
};

#define ROW(field, text, letter_, kind_, value_, doc_)                                                       \
	{                                                                                                    \
		.name = text, .letter = letter_, .kind = kind_, .offset = offsetof(struct serve_run, field), \
		.value = value_, .doc = doc_                                                                 \
	}

static const struct cli_option rows[] = {
	ROW(listen, "listen", 0, CLI_TEXT, "URL", "http:// or https://IP:PORT [" DEFAULT_ADDRESS "]"),
	ROW(url, "url", 0, CLI_TEXT, "BASE", "Address of the page from outside, through a proxy or a tunnel"),
	ROW(allow_host, "allow-host", 0, CLI_LIST, "NAME[:PORT]", "Serve requests for this host, too; repeatable"),
	ROW(token_file, "token-file", 0, CLI_TEXT, "FILE", "A fixed token, for scripts: 32 characters or more"),
	ROW(plain_http, "plain-http", 0, CLI_FLAG, NULL, "Let other machines connect without encryption"),
	ROW(tls_cert, "tls-cert", 0, CLI_TEXT, "FILE", "With https://: the server's certificate (PEM)"),
	ROW(tls_key, "tls-key", 0, CLI_TEXT, "FILE", "With https://: its private key (PEM)"),
	ROW(keep_events, "keep-events", 0, CLI_TEXT, "N", "Replay the last N events of a session [10000]"),
	ROW(open, "open", 0, CLI_FLAG, NULL, "Open the page in a browser"),
	ROW(overrides, "config", 'c', CLI_LIST, "key=value", "Set a configuration value (TOML); repeatable"),
};

static const char details[] = "The program prints a link that signs in the device that opens it. A link works\n"
			      "once, for ten minutes: press Enter for another one. The page shows the\n"
			      "sessions of this machine, and starts, steers and answers them.\n"
			      "\n"
			      "For a phone, reach the page through a tunnel or a private network:\n"
			      "  $ ssh -L 7420:127.0.0.1:7420 desk\n"
			      "  $ codex serve --listen http://100.64.0.5:7420 --plain-http\n"
			      "  $ codex serve --listen https://192.168.0.9:7420 --tls-cert C --tls-key K\n"
			      "  $ codex serve --url https://desk.example\n"
			      "\n"
			      "docs/serve.md says who may ask what.\n" FLEET_DETAILS;

const struct cli_command serve_command = {
	.name = "codex serve",
	.about = "Serve a page for browsers: watch and steer sessions from a phone.",
	.usage = "Usage: codex serve [OPTIONS]",
	.details = details,
	.options = rows,
	.option_count = countof(rows),
};

/* ---- the command line ---- */

static bool is_wildcard(const char *socket)
{
	return str_has_prefix(str_of(socket), "tcp://0.0.0.0:") || str_has_prefix(str_of(socket), "tcp://[::]:");
}

static int check_listen(const struct serve_run *run, struct error *err)
{
	struct str rest = str_of(run->listen);
	bool is_https = str_cut_prefix(&rest, "https://");
	if (!is_https && !str_cut_prefix(&rest, "http://"))
		return error_set(err, ERR_usage, "--listen %s: expected http://IP:PORT or https://IP:PORT",
		                 run->listen);
	auto_free char *socket = xasprintf("tcp://%.*s", STR_ARG(rest));
	if (!transport_listener_is_address(socket))
		return error_set(err, ERR_usage, "--listen %s: expected a numeric address and a port", run->listen);
	if (!is_https && !run->plain_http && !transport_listener_is_local(socket))
		return error_set(err, ERR_usage,
		                 "--listen %s: other machines can reach this address: listen on https:// with "
		                 "--tls-cert and --tls-key, or add --plain-http if the network is private",
		                 run->listen);
	if (is_wildcard(socket) && !run->url)
		return error_set(err, ERR_usage, "--listen %s: add --url BASE, the address that browsers use",
		                 run->listen);
	return 0;
}

/* A host, with or without a port. */
static bool is_host(struct str text)
{
	static const char others[] = "-._[]:";
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (!is_word && !strchr(others, c))
			return false;
	}
	return text.len;
}

static int read_url(struct serve_run *run, struct error *err)
{
	struct http_url url;
	struct str base = str_of(run->url);
	if (!run->url)
		return 0;
	if (str_has_suffix(base, "/"))
		base.len--;
	if (!http_url_parse(base, &url) || url.path.len || str_find_char(base, '@') >= 0 ||
	    !is_host(str_skip(base, (size_t)(strstr(run->url, "://") + 3 - run->url))))
		return error_set(err, ERR_usage, "--url %s: expected http://HOST or https://HOST, without a path",
		                 run->url);
	run->base = str_dup(base);
	vec_push(&run->names, strstr(run->base, "://") + 3);
	return 0;
}

static int read_names(struct serve_run *run, struct error *err)
{
	for (size_t i = 0; i < run->allow_host.count; i++) {
		if (!is_host(str_of(run->allow_host.items[i])))
			return error_set(err, ERR_usage, "--allow-host %s: expected NAME or NAME:PORT",
			                 run->allow_host.items[i]);
		vec_push(&run->names, run->allow_host.items[i]);
	}
	return read_url(run, err);
}

static int read_token(struct serve_run *run, struct error *err)
{
	if (!run->token_file)
		return 0;
	run->token = access_token_read(run->token_file, err);
	if (!run->token)
		return error_set(err, ERR_usage, "%s", err->text);
	if (strlen(run->token) < TOKEN_LEAST)
		return error_set(err, ERR_usage, "--token-file %s: the token has less than %d characters",
		                 run->token_file, TOKEN_LEAST);
	return 0;
}

static int load(struct serve_run *run, struct error *err)
{
	VEC(struct str) overrides = {0};
	for (size_t i = 0; i < run->overrides.count; i++)
		vec_push(&overrides, str_of(run->overrides.items[i]));
	run->cwd = realpath(".", NULL);
	const struct config_source source = {
		.cwd = run->cwd, .overrides = overrides.items, .override_count = overrides.count};
	if (run->cwd)
		run->config = config_load(&source, err);
	else
		error_sys(err, errno, "cannot work in this folder");
	vec_finish(&overrides);
	return run->config ? 0 : -(int)err->code;
}

/* ---- the server ---- */

static void on_end(void *self)
{
	struct serve_run *run = self;
	loop_stop(run->loop);
}

/* The first signal starts an orderly shutdown; the second one ends the program at once. */
static void on_signal(uv_signal_t *handle, int number)
{
	struct serve_run *run = handle->data;
	(void)number;
	if (run->was_signalled)
		loop_stop(run->loop);
	else
		http_proto_shut_down(run->http);
	run->was_signalled = true;
}

static void watch_signal(struct serve_run *run, uv_signal_t *handle, int number)
{
	uv_signal_init(loop_uv(run->loop), handle);
	handle->data = run;
	uv_signal_start(handle, on_signal, number);
}

static void on_log(const char *line, void *self)
{
	(void)self;
	fprintf(stderr, "%s\n", line);
}

static int list_threads(size_t limit, struct str cursor, const struct str *open, size_t open_count, struct buf *out,
                        void *self, struct error *err)
{
	struct serve_run *run = self;
	return serve_store_list(run->store, limit, cursor, open, open_count, out, err);
}

static char *find_rollout(struct str id_or_name, void *self, struct error *err)
{
	struct serve_run *run = self;
	return serve_store_find(run->store, id_or_name, err);
}

static char *find_attachable(struct str id, void *self)
{
	struct serve_run *run = self;
	return serve_store_find_attachable(run->store, id);
}

static int open_server(struct serve_run *run, struct services *services, struct error *err)
{
	uint64_t keep_events = 10000;
	if (run->keep_events &&
	    (!str_to_u64(str_of(run->keep_events), &keep_events) || !keep_events || keep_events > LIMIT_KEPT_EVENTS))
		return error_set(err, ERR_usage, "--keep-events %s: expected a number from 1 to %d", run->keep_events,
		                 LIMIT_KEPT_EVENTS);
	const struct http_page_options page = {
		.access = run->access,
		.base = run->base,
		.names = run->names.items,
		.name_count = run->names.count,
		.list_threads = list_threads,
		.on_log = on_log,
		.self = run,
	};
	const struct http_proto_options options = {
		.loop = run->loop,
		.engine = {services, run->config, run->cwd},
		.tls = {run->tls_cert, run->tls_key, NULL},
		.keep_events = keep_events,
		.page = &page,
		.find_rollout = find_rollout,
		.find_attachable = find_attachable,
		.on_end = on_end,
		.self = run,
	};
	run->http = http_proto_create(&options, run->listen, err);
	return run->http ? 0 : -(int)err->code;
}

static int serve(struct serve_run *run, struct services *services, struct error *err)
{
	int status = open_server(run, services, err);
	if (status != 0)
		return status;
	watch_signal(run, &run->on_int, SIGINT);
	watch_signal(run, &run->on_term, SIGTERM);
	fprintf(stderr, "listening on %s\n", http_proto_address(run->http));
	struct serve_links *links = serve_links_create(run->loop, run->http);
	if (run->open)
		serve_links_open(links);
	loop_run(run->loop);
	serve_links_destroy(links);
	http_proto_destroy(run->http);
	loop_hurry(run->loop);
	uv_close((uv_handle_t *)&run->on_int, NULL);
	uv_close((uv_handle_t *)&run->on_term, NULL);
	return 0;
}

static int run_loop(struct serve_run *run, struct error *err)
{
	run->loop = loop_create(err);
	if (!run->loop)
		return -(int)err->code;
	const char *originator = config_env("CODEX_INTERNAL_ORIGINATOR_OVERRIDE");
	struct services *services = services_create(run->loop, originator ? originator : "codex_serve");
	run->access = page_access_create(run->token);
	run->store = serve_store_create(config_home(run->config), run->config->model_provider);
	int status = serve(run, services, err);
	services_destroy(services);
	process_reaper_leave();
	loop_destroy(run->loop);
	serve_store_destroy(run->store); /* after the workers that use it */
	page_access_destroy(run->access);
	return status;
}

static void print_warnings(const struct config *config)
{
	size_t count;
	const char *const *warnings = config_warnings(config, &count);
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "warning: %s\n", warnings[i]);
}

static int start(struct serve_run *run, struct error *err)
{
	int status = check_listen(run, err);
	if (status == 0)
		status = read_names(run, err);
	if (status == 0)
		status = read_token(run, err);
	if (status == 0)
		status = load(run, err);
	if (status != 0)
		return status;
	print_warnings(run->config);
	return run_loop(run, err);
}

int serve_main(int argc, char **argv)
{
	struct serve_run run = {.listen = DEFAULT_ADDRESS};
	struct cli_result words;
	struct error err;
	int status = cli_read(&serve_command, argc, argv, &run, &words);
	if (status < 0) {
		status = start(&run, &err);
		if (status != 0)
			fprintf(stderr, "codex serve: %s\n", err.text);
		status = status != 0 ? error_exit_status(err.code) : 0;
		config_unref(run.config);
		vec_finish(&run.names);
		access_token_free(run.token);
		free(run.cwd);
		free(run.base);
	}
	cli_finish(&serve_command, &run, &words);
	return status;
}
