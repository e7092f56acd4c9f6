/* Loads the configuration, runs the server, handles signals and sets the exit status. Standard output carries events
 * only; messages for people go to standard error. */
#include "ui/serve/proto_run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "net/access_token.h"
#include "process/process_reaper.h"
#include "rollout/rollout_list.h"
#include "server/http_proto.h"
#include "ui/fleet/fleet_options.h"

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

char *proto_find_rollout(struct str id_or_name, void *self, struct error *err)
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
	run->resume_path = proto_find_rollout(str_of(run->resume), run, err);
	return run->resume_path ? 0 : error_wrap(err, "no session to resume");
}

static void print_warnings(const struct config *config)
{
	size_t count;
	const char *const *warnings = config_warnings(config, &count);
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "warning: %s\n", warnings[i]);
}

void proto_on_end(void *self)
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
	run->kind->shut_down(run);
}

static void watch_signal(struct proto_run *run, uv_signal_t *handle, int number)
{
	uv_signal_init(loop_uv(run->loop), handle);
	handle->data = run;
	uv_signal_start(handle, on_signal, number);
}

static int serve(struct proto_run *run, struct services *services, struct error *err)
{
	int status = run->kind->open(run, services, err);
	if (status != 0)
		return status;
	watch_signal(run, &run->on_int, SIGINT);
	watch_signal(run, &run->on_term, SIGTERM);
	if (run->listen) /* printed last, because the reader may send a signal at once */
		fprintf(stderr, "listening on %s\n", run->kind->address(run));
	loop_run(run->loop);
	run->kind->close(run);
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

static bool is_http(const char *address)
{
	return address && http_proto_is_address(address);
}

static int check(const struct proto_run *run, struct error *err)
{
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
	return 0;
}

static int start(struct proto_run *run, struct error *err)
{
	int status = check(run, err);
	if (status == 0 && run->token_file && !(run->token = access_token_read(run->token_file, err)))
		status = -(int)err->code;
	if (status != 0 || (status = load(run, err)) != 0 || (status = find_session(run, err)) != 0)
		return status;
	print_warnings(run->config);
	return run_loop(run, err);
}

static int run_command(struct proto_run *run)
{
	struct error err;
	int status = start(run, &err);
	if (status != 0)
		fprintf(stderr, "codex proto: %s\n", err.text);
	config_unref(run->config);
	free(run->cwd);
	access_token_free(run->token);
	free(run->resume_path);
	return status != 0 ? error_exit_status(err.code) : 0;
}

int proto_run(int argc, char **argv, const struct proto_kind *kind)
{
	struct proto_run run = {.kind = kind};
	struct cli_result words;
	int status = cli_read(kind->command, argc, argv, &run, &words);
	if (status < 0 && !kind->is_http && (run.print_proto || is_http(run.listen))) {
		argv[0] = (char *)(uintptr_t) "proto"; /* the other program knows no synonyms */
		status = fleet_exec(kind->command, argc, argv);
	} else if (status < 0 && kind->is_http && !run.print_proto && !is_http(run.listen)) {
		fprintf(stderr,
		        "codex-fleet: proto needs --listen with an address of HTTP: start it as `codex proto`\n");
		status = 2;
	} else if (status < 0 && run.print_proto)
		status = kind->print_description();
	else if (status < 0)
		status = run_command(&run);
	cli_finish(kind->command, &run, &words);
	return status;
}
