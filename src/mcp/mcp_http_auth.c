/* A refresh blocks, so a worker carries it out; the job has copies of everything, since it may outlive the link. */
#include "mcp/mcp_http_auth.h"

#include <string.h>

#include "account/account.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "loop/loop.h"
#include "net/http_head.h"
#include "oauth/oauth_refresh.h"
#include "process/process.h"

enum { HELPER_OUTPUT = 64 * KIB, HELPER_MS = 30 * 1000 };

struct refresh_job {
	struct mcp_http_auth *auth; /* NULL: the link has ended */
	struct arena arena;
	struct oauth_refresh_options options;
	struct oauth_credentials login;
	bool is_found;
	int status;
	struct error err;
};

struct mcp_http_auth {
	struct arena arena; /* the options */
	struct mcp_http_auth_options options;
	struct arena answer; /* the latest headers */
	struct mcp_http_headers headers;
	struct str token; /* of the latest headers, or STR_NONE */
	mcp_http_auth_fn on_done;
	void *self;
	struct refresh_job *job;
	struct account_call *account;
	struct process *helper;
	struct loop_timer *timer; /* of the helper */
	struct buf output;
	struct error failure; /* ERR_none, or why the helper could not be started */
};

static void finish(struct mcp_http_auth *auth, const struct error *err)
{
	auth->on_done(err ? NULL : &auth->headers, err, auth->self);
}

static void clear(struct mcp_http_auth *auth)
{
	arena_finish(&auth->answer);
	auth->headers = (struct mcp_http_headers){.scope = STR_NONE};
	auth->token = STR_NONE;
}

/* ---- the login ---- */

static void on_refresh_work(void *self)
{
	struct refresh_job *job = self;
	job->status = oauth_refresh(&job->options, &job->arena, &job->login, &job->is_found, &job->err);
}

static void keep_token(struct mcp_http_auth *auth, const struct refresh_job *job)
{
	struct str *line = arena_new(&auth->answer, struct str);
	auth->token = arena_str(&auth->answer, job->login.access_token);
	*line = str_of(arena_printf(&auth->answer, "Authorization: Bearer %.*s", STR_ARG(auth->token)));
	auth->headers = (struct mcp_http_headers){
		.lines = line,
		.count = 1,
		.scope = job->login.scope.ptr ? arena_str(&auth->answer, job->login.scope) : STR_NONE,
		.expires_at_ms = job->login.expires_at_ms,
	};
}

static void on_refreshed(void *self)
{
	struct refresh_job *job = self;
	struct mcp_http_auth *auth = job->auth;
	struct error err = job->err;
	int status = job->status;
	if (auth) {
		auth->job = NULL;
		if (status == 0)
			clear(auth);
		if (status == 0 && job->is_found)
			keep_token(auth, job);
	}
	arena_finish(&job->arena);
	free(job);
	if (auth)
		finish(auth, status == 0 ? NULL : &err);
}

static void ask_store(struct mcp_http_auth *auth, bool is_refused)
{
	struct refresh_job *job = xnew(struct refresh_job);
	const struct mcp_http_auth_options *options = &auth->options;
	job->auth = auth;
	job->options = (struct oauth_refresh_options){
		.home = arena_cstr(&job->arena, str_of(options->home)),
		.name = arena_str(&job->arena, str_of(options->name)),
		.url = arena_str(&job->arena, str_of(options->url)),
		.refused = is_refused && auth->token.ptr ? arena_str(&job->arena, auth->token) : STR_NONE,
		.client_id = options->client_id ? arena_str(&job->arena, str_of(options->client_id)) : STR_NONE,
		.client_secret =
			options->client_secret ? arena_cstr(&job->arena, str_of(options->client_secret)) : NULL,
	};
	auth->job = job;
	worker_run(options->loop, on_refresh_work, on_refreshed, job);
}

/* ---- the account of `codex login` ---- */

/* Without such a login the server is asked without a header. */
static void on_account(const struct account_token *token, const struct error *err, void *self)
{
	struct mcp_http_auth *auth = self;
	struct str *lines;
	auth->account = NULL;
	if (!err) {
		clear(auth);
		lines = arena_array(&auth->answer, struct str, 2);
		auth->token = arena_str(&auth->answer, token->access_token);
		lines[0] = str_of(arena_printf(&auth->answer, "Authorization: Bearer %.*s", STR_ARG(auth->token)));
		lines[1] = str_of(arena_printf(&auth->answer, "chatgpt-account-id: %.*s", STR_ARG(token->account_id)));
		auth->headers.lines = lines;
		auth->headers.count = token->account_id.len ? 2 : 1;
	}
	finish(auth, auth->token.ptr ? err : NULL);
}

static void ask_account(struct mcp_http_auth *auth, bool is_refused)
{
	const struct account_request request = {.place = auth->options.place,
	                                        .refused = is_refused ? auth->token : STR_NONE};
	auth->account = account_get(auth->options.accounts, &request, on_account, auth);
}

/* ---- the helper ---- */

static void end_helper(struct mcp_http_auth *auth)
{
	process_destroy(steal(auth->helper));
	loop_timer_destroy(steal(auth->timer));
	if (auth->output.data)
		explicit_bzero(auth->output.data, auth->output.len);
	buf_finish(&auth->output);
}

static int read_headers(struct mcp_http_auth *auth, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct json *json = json_parse(&arena, str_trim(buf_str(&auth->output)), NULL);
	struct http_header header;
	if (auth->output.over || !json_is(json, JSON_object))
		return error_set(err, ERR_config, "http_headers_helper did not print a JSON object of at most %d KiB",
		                 HELPER_OUTPUT / KIB);
	clear(auth);
	size_t count = 0;
	struct str *lines = arena_array(&auth->answer, struct str, json->count);
	json_for_each(it, json) {
		struct str value = it->type == JSON_string ? str_trim(it->text) : STR_NONE;
		struct str line = str_of(
			arena_printf(&auth->answer, "%.*s: %.*s", STR_ARG(it->key), (int)value.len, value.ptr ?: ""));
		if (!value.ptr || str_has_nul(it->key) || str_has_nul(value) || !http_header_parse(line, &header))
			return error_set(err, ERR_config,
			                 "http_headers_helper printed something else than texts that are allowed in "
			                 "headers");
		lines[count++] = line;
	}
	auth->headers.lines = lines;
	auth->headers.count = count;
	return 0;
}

static void on_helper_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct mcp_http_auth *auth = self;
	if (stream == exec_stream_stdout && !auth->output.over)
		buf_append_str(&auth->output, bytes);
}

static void on_helper_end(const struct process_result *result, void *self)
{
	struct mcp_http_auth *auth = self;
	struct error err;
	int status;
	if (result->error)
		status = error_set(&err, result->error->code, "http_headers_helper: %s", result->error->text);
	else if (result->exit_code != 0)
		status = error_set(&err, ERR_config, "http_headers_helper exited with status %d", result->exit_code);
	else
		status = read_headers(auth, &err);
	end_helper(auth);
	finish(auth, status == 0 ? NULL : &err);
}

static void on_helper_timeout(void *self)
{
	struct mcp_http_auth *auth = self;
	struct error err = auth->failure;
	end_helper(auth);
	if (err.code == ERR_none)
		error_set(&err, ERR_timeout, "http_headers_helper ran for more than %d seconds", HELPER_MS / 1000);
	finish(auth, &err);
}

static void ask_helper(struct mcp_http_auth *auth)
{
	static const struct process_handler handler = {.on_output = on_helper_output, .on_end = on_helper_end};
	const char *argv[] = {"/bin/sh", "-c", auth->options.helper, NULL};
	const struct process_spec spec = {
		.argv = argv,
		.env = config_env_all(),
		.cwd = auth->options.cwd,
		.drain_ms = PROCESS_DRAIN_MS,
	};
	auth->failure = (struct error){0};
	buf_init(&auth->output, HELPER_OUTPUT);
	auth->helper = process_start(auth->options.loop, &spec, &handler, auth, &auth->failure);
	auth->timer = loop_timer_create(auth->options.loop, on_helper_timeout, auth);
	loop_timer_start(auth->timer, auth->helper ? HELPER_MS : 0);
}

/* ---- lifetime ---- */

static const char *copy(struct arena *arena, const char *text)
{
	return text ? arena_cstr(arena, str_of(text)) : NULL;
}

struct mcp_http_auth *mcp_http_auth_create(const struct mcp_http_auth_options *options)
{
	struct mcp_http_auth *auth = xnew(struct mcp_http_auth);
	auth->options = (struct mcp_http_auth_options){
		.loop = options->loop,
		.home = copy(&auth->arena, options->home),
		.name = copy(&auth->arena, options->name),
		.url = copy(&auth->arena, options->url),
		.helper = copy(&auth->arena, options->helper),
		.cwd = copy(&auth->arena, options->cwd),
		.client_id = copy(&auth->arena, options->client_id),
		.client_secret = copy(&auth->arena, options->client_secret),
		.accounts = options->accounts,
		.place = options->place,
	};
	clear(auth);
	return auth;
}

void mcp_http_auth_ask(struct mcp_http_auth *auth, bool is_refused, mcp_http_auth_fn on_done, void *self)
{
	auth->on_done = on_done;
	auth->self = self;
	if (auth->options.helper)
		ask_helper(auth);
	else if (auth->options.accounts)
		ask_account(auth, is_refused);
	else
		ask_store(auth, is_refused);
}

void mcp_http_auth_destroy(struct mcp_http_auth *auth)
{
	if (!auth)
		return;
	if (auth->job)
		auth->job->auth = NULL;
	account_cancel(auth->account);
	end_helper(auth);
	arena_finish(&auth->answer);
	arena_finish(&auth->arena);
	free(auth);
}
