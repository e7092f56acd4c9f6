/* Records decode numbers as 64 bits; a number that is out of range gets the error text of codex 0.169. */
#include "app_server/host/command_words.h"

#include <string.h>

#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/rpc_params.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"

static bool has_nul(struct str text)
{
	return text.len && memchr(text.ptr, '\0', text.len);
}

static const struct rpc_error *bad_nul(struct rpc_request *request)
{
	return rpc_error(&request->arena, APP_INVALID_REQUEST,
	                 "arguments and environment variables must not contain a NUL byte");
}

const struct rpc_error *command_words_argv(struct rpc_request *request, const struct str *words, size_t count,
                                           struct client_command *command)
{
	if (count == 0 || words[0].len == 0)
		return rpc_error(&request->arena, APP_INVALID_REQUEST, "command must not be empty");
	const char **argv = arena_array(&command->arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++) {
		if (has_nul(words[i]))
			return bad_nul(request);
		argv[i] = arena_cstr(&command->arena, words[i]);
	}
	command->argv = argv;
	return NULL;
}

static const struct rpc_error *set_variable(struct rpc_request *request, const struct json *it, struct env *env)
{
	if (it->type == JSON_null) {
		env_unset(env, it->key);
		return NULL;
	}
	if (it->type != JSON_string)
		return rpc_error(&request->arena, APP_INVALID_REQUEST,
		                 "Invalid request: the value of `%.*s` in `env` must be a string or null",
		                 STR_ARG(it->key));
	if (!env_is_name(it->key))
		return rpc_error(&request->arena, APP_INVALID_REQUEST,
		                 "`%.*s` is not a valid name of an environment variable", STR_ARG(it->key));
	if (has_nul(it->text))
		return bad_nul(request);
	env_set(env, it->key, it->text);
	return NULL;
}

const struct rpc_error *command_words_env(struct rpc_request *request, struct str json, struct client_command *command)
{
	const struct json *map = json.ptr ? json_parse(&request->arena, json, NULL) : NULL;
	if (map && map->type != JSON_object)
		return rpc_error(&request->arena, APP_INVALID_REQUEST, "Invalid request: `env` must be a map");
	const struct rpc_error *error = NULL;
	json_for_each(it, map) {
		error = error ? error : set_variable(request, it, &command->env);
	}
	return error;
}

const struct rpc_error *command_words_timeout(struct rpc_request *request, const char *method, bool has_timeout,
                                              int64_t timeout_ms, struct client_command *command)
{
	command->timeout_ms = LIMIT_CLIENT_COMMAND_MS;
	if (!has_timeout)
		return NULL;
	command->timeout_ms = timeout_ms == FIELD_NULL ? -1 : timeout_ms;
	if (timeout_ms >= 0 || timeout_ms == FIELD_NULL)
		return NULL;
	return rpc_error(&request->arena, APP_INVALID_PARAMS, "%s timeoutMs must be non-negative, got %lld", method,
	                 (long long)timeout_ms);
}

static const struct rpc_error *bad_number(struct rpc_request *request, int64_t value, const char *type)
{
	return rpc_error(&request->arena, APP_INVALID_REQUEST,
	                 "Invalid request: invalid value: integer `%lld`, expected %s", (long long)value, type);
}

const struct rpc_error *command_words_cap(struct rpc_request *request, bool has_cap, int64_t cap,
                                          struct client_command *command)
{
	command->cap = LIMIT_CLIENT_OUTPUT;
	if (!has_cap)
		return NULL;
	command->cap = cap == FIELD_NULL ? UINT64_MAX : (uint64_t)cap;
	return cap >= 0 || cap == FIELD_NULL ? NULL : bad_number(request, cap, "usize");
}

const struct rpc_error *command_words_size(struct rpc_request *request, const char *method, int64_t rows, int64_t cols,
                                           struct pty_size *ret)
{
	if (rows < 0 || rows > UINT16_MAX)
		return bad_number(request, rows, "u16");
	if (cols < 0 || cols > UINT16_MAX)
		return bad_number(request, cols, "u16");
	*ret = (struct pty_size){(uint16_t)rows, (uint16_t)cols};
	if (rows && cols)
		return NULL;
	return rpc_error(&request->arena, APP_INVALID_PARAMS, "%s size rows and cols must be greater than 0", method);
}

const struct rpc_error *command_words_not_found(struct rpc_request *request, const char *missing, struct str id)
{
	return rpc_error(&request->arena, APP_INVALID_REQUEST, "%s \"%.*s\"", missing, STR_ARG(id));
}

const struct rpc_error *command_words_resize(struct rpc_request *request, const struct command_words_resize *resize,
                                             const struct client_command_kind *kind)
{
	struct pty_size size;
	struct error err;
	const struct rpc_error *error = command_words_size(request, resize->method, resize->rows, resize->cols, &size);
	if (error)
		return error;
	struct client_command *command = client_command_find(request->connection, kind, resize->id);
	if (!command)
		return command_words_not_found(request, resize->missing, resize->id);
	if (command->has_terminal && client_command_resize(command, &size, &err) == 0)
		return NULL;
	return rpc_error(&request->arena, APP_INVALID_REQUEST,
	                 "failed to resize PTY: process is not attached to a PTY");
}

static const struct rpc_error *bad_input(struct rpc_request *request, const struct error *err)
{
	bool is_closed = err->code == ERR_io && !err->sys;
	return rpc_error(&request->arena, APP_INVALID_REQUEST, "%s", is_closed ? "stdin is already closed" : err->text);
}

const struct rpc_error *command_words_input(struct rpc_request *request, const struct command_words_input *input,
                                            const struct client_command_kind *kind)
{
	char why[RPC_PARAMS_WHY];
	struct error err;
	auto_buf struct buf bytes;
	buf_init(&bytes, LIMIT_LINE);
	if (!input->base64.ptr && !input->closes)
		return rpc_error(&request->arena, APP_INVALID_PARAMS, "%s requires deltaBase64 or closeStdin",
		                 input->method);
	if (input->base64.ptr && !rpc_params_base64(&bytes, input->base64, why))
		return rpc_error(&request->arena, APP_INVALID_PARAMS, "invalid deltaBase64: %s", why);
	struct client_command *command = client_command_find(request->connection, kind, input->id);
	if (!command)
		return command_words_not_found(request, input->missing, input->id);
	if (!command->takes_input)
		return rpc_error(&request->arena, APP_INVALID_REQUEST, "stdin streaming is not enabled for this %s",
		                 input->what);
	if (input->base64.ptr && client_command_write(command, buf_str(&bytes), &err) != 0)
		return bad_input(request, &err);
	if (input->closes)
		client_command_close_input(command);
	return NULL;
}

const struct rpc_error *command_words_not_started(struct rpc_request *request, const char *what,
                                                  const struct error *err)
{
	struct arena *arena = &request->arena;
	return rpc_error_from_system(arena, arena_printf(arena, "failed to spawn %s", what), err);
}
