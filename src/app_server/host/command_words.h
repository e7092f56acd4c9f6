/* command_words.h — checks and decodes the parameters of command/exec and process/spawn.
 *
 * Each check returns NULL or an error with the text of codex 0.169. Owns: nothing; results live in the command, errors
 * in the arena of the request. Loop thread only. */
#ifndef APP_SERVER_COMMAND_WORDS_H
#define APP_SERVER_COMMAND_WORDS_H

#include "app_server/host/client_command.h"
#include "base/error.h"
#include "protocol/message/app.h"

struct rpc_error;
struct rpc_request;

must_check const struct rpc_error *command_words_argv(struct rpc_request *request, const struct str *words,
                                                      size_t count, struct client_command *command);
/* Applies json, {"NAME":"value","OTHER":null} or STR_NONE, to command->env. */
must_check const struct rpc_error *command_words_env(struct rpc_request *request, struct str json,
                                                     struct client_command *command);
/* method appears in the error text. */
must_check const struct rpc_error *command_words_timeout(struct rpc_request *request, const char *method,
                                                         bool has_timeout, int64_t timeout_ms,
                                                         struct client_command *command);
must_check const struct rpc_error *command_words_cap(struct rpc_request *request, bool has_cap, int64_t cap,
                                                     struct client_command *command);
/* rows and cols are unchecked values from the wire. */
must_check const struct rpc_error *command_words_size(struct rpc_request *request, const char *method, int64_t rows,
                                                      int64_t cols, struct pty_size *ret);

/* Answers a write of `method` with deltaBase64 and closeStdin. command may be NULL if it does not exist; then
 * `missing`, a format for the id, is the error. */
struct command_words_input {
	const char *method;
	const char *what; /* "command/exec" or "process" */
	const char *missing;
	struct str id;
	struct str base64; /* STR_NONE: absent */
	bool closes;
};
must_check const struct rpc_error *command_words_input(struct rpc_request *request,
                                                       const struct command_words_input *input,
                                                       const struct client_command_kind *kind);

/* The new size of a command's terminal. */
struct command_words_resize {
	const char *method;
	const char *missing;
	struct str id;
	int64_t rows, cols; /* as sent by the client, not validated */
};
must_check const struct rpc_error *command_words_resize(struct rpc_request *request,
                                                        const struct command_words_resize *resize,
                                                        const struct client_command_kind *kind);

/* Returns the error for an id without a command. */
must_check const struct rpc_error *command_words_not_found(struct rpc_request *request, const char *missing,
                                                           struct str id);
/* Refuses with "failed to spawn <what>: …". */
must_check const struct rpc_error *command_words_not_started(struct rpc_request *request, const char *what,
                                                             const struct error *err);

#endif
