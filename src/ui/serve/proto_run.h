/* proto_run.h — one run of `codex proto`: lines or HTTP. Loop thread only. */
#ifndef UI_PROTO_RUN_H
#define UI_PROTO_RUN_H

#include <signal.h>
#include <uv.h>

#include "base/error.h"
#include "base/str.h"
#include "ui/cli/cli.h"

struct proto_run;
struct services;

/* A form of service: lines or HTTP. */
struct proto_kind {
	const struct cli_command *command;
	bool is_http;
	int (*open)(struct proto_run *run, struct services *services, struct error *err);
	void (*shut_down)(struct proto_run *run); /* proto_on_end follows */
	const char *(*address)(struct proto_run *run);
	void (*close)(struct proto_run *run);
	int (*print_description)(void); /* for --print-proto, of HTTP; returns the exit status */
};

struct proto_run {
	/* From the command line: */
	struct cli_list overrides;
	const char *wire_profile, *listen, *token_file, *tls_cert, *tls_key, *tls_client_ca, *keep_events, *resume;
	bool no_auto_configure, print_proto;
	/* private */
	const struct proto_kind *kind;
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

/* Reads the command line and runs. Returns the exit status. A kind that does not serve HTTP leaves that to
 * codex-fleet. */
int proto_run(int argc, char **argv, const struct proto_kind *kind);
/* Returns the path of a recorded session's rollout, owned by the caller. `self` is the run. */
must_check char *proto_find_rollout(struct str id_or_name, void *self, struct error *err);
void proto_on_end(void *self); /* `self` is the run */

#endif
