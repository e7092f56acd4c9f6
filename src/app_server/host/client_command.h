/* client_command.h — a command that a client runs without a thread: command/exec and process/spawn.
 *
 * Owns: the process, its output and its arguments. A resource of its client: the command and its whole process tree
 * are killed when the client disconnects, on timeout and on terminate. A client that reads slowly holds a streamed
 * command. Loop thread only. No callback runs inside the call that caused it. */
#ifndef APP_SERVER_CLIENT_COMMAND_H
#define APP_SERVER_CLIENT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/list.h"
#include "command/env_policy.h"
#include "sandbox/command_run.h"

struct client_command;

struct client_command_end {
	int exit_code;      /* 124 after a timeout; 128 + n if signal n ended it */
	bool is_cut;        /* a background process still has its output open */
	struct str text[2]; /* indexed by enum exec_stream; empty if the output was streamed */
	bool is_capped[2];
};

/* How a kind of command reports to its client. on_end and on_failure are the last calls; the command is freed
 * afterwards. */
struct client_command_kind {
	/* The program runs. Called before output and end. May be NULL. */
	void (*on_start)(struct client_command *command);
	void (*on_output)(struct client_command *command, enum exec_stream stream, struct str base64, bool is_capped);
	void (*on_end)(struct client_command *command, const struct client_command_end *end);
	/* The command could not be started; on_start was not called. */
	void (*on_failure)(struct client_command *command, const struct error *err);
};

struct client_command_stream {
	struct buf kept;
	uint64_t seen; /* number of bytes kept or sent */
};

struct client_command {
	/* Set by the caller before the start; texts are allocated in arena: */
	struct str id; /* chosen by the client; STR_NONE if absent */
	const char *const *argv;
	const char *cwd; /* absolute */
	struct env env;
	struct sandbox_policy sandbox;
	bool has_terminal, takes_input, is_streamed;
	struct pty_size size;
	uint64_t cap;       /* limit of each stream */
	int64_t timeout_ms; /* -1: no timeout */
	/* set by create; the kind clears request once it is answered */
	const struct client_command_kind *kind;
	struct rpc_request *request; /* the request that waits for the start or the end, or NULL */
	/* read-only */
	struct connection *client;
	struct arena arena;
	/* private */
	struct client_resource resource;
	struct command_run *run;
	struct loop_timer *timer;
	struct client_command_stream streams[2];
	bool is_input_closed, is_held, is_overdue, is_started;
};

/* A command for a client's request that is not started, and not yet a resource of the client. */
struct client_command *client_command_create(struct rpc_request *request, const struct client_command_kind *kind);

/* Starts it; its kind is notified of the start or the failure later and answers the request. If its parameters have an
 * error, refuses the request and destroys the command instead. */
enum rpc_verdict client_command_start(struct client_command *command, const struct rpc_error *error);

/* Returns NULL if the client has no command of that kind and id. */
struct client_command *client_command_find(struct connection *client, const struct client_command_kind *kind,
                                           struct str id);
bool client_command_is_full(struct connection *client);

must_check int client_command_write(struct client_command *command, struct str bytes, struct error *err);
void client_command_close_input(struct client_command *command);
must_check int client_command_resize(struct client_command *command, const struct pty_size *size, struct error *err);
void client_command_terminate(struct client_command *command);

#endif
