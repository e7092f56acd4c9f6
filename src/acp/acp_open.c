/* session/new, load, resume, fork and close.
 *
 * A session is open when the engine reports it as configured; until then it has no id and takes no requests. The file
 * of a stored session is found, read and copied on a worker, which also encodes the history for session/load, so that a
 * large one does not stop the loop. An open session is not opened twice: its history is read again, its Codex stays. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "acp/acp_client_file.h"
#include "acp/acp_event.h"
#include "acp/acp_job.h"
#include "acp/acp_limits.h"
#include "acp/acp_method.h"
#include "acp/acp_replay.h"
#include "acp/acp_session.h"
#include "acp/acp_slash.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/auth.h"
#include "config/config.h"
#include "config/model_provider.h"
#include "config/toml/toml_text.h"
#include "engine/codex/codex.h"
#include "rollout/rollout_fork.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_meta.h"

/* The parameters that the four methods share. */
struct opening {
	struct str session_id; /* STR_NONE: a new session */
	struct str cwd;
	const struct str *roots;
	size_t root_count;
	const struct acp_mcp_server *servers;
	size_t server_count;
};

/* A stored session that is being opened, or copied. */
struct open_job {
	struct acp_job job;
	struct opening opening;       /* its texts live in the request's arena */
	char *id, *home, *originator; /* id: NULL for a new session */
	enum credentials_store store;
	bool is_fork, is_load;
	char *path; /* of the stored session */
	char *copy; /* of the fork, until a session takes it */
	struct acp_stored stored;
	struct buf replay;
	struct error err; /* ERR_none: all went well */
};

/* ---- checks ---- */

static bool is_folder_name(struct str path)
{
	return path.len && path.ptr[0] == '/' && !str_has_nul(path);
}

/* True if the server at this index can be used, and no earlier one has its name. */
static bool is_server(const struct acp_mcp_server *servers, size_t at)
{
	const struct acp_mcp_server *server = &servers[at];
	for (size_t i = 0; i < at; i++) {
		if (str_eq(servers[i].name, server->name))
			return false;
	}
	return server->name.len &&
	       (server->type.ptr ? str_is(server->type, "http") && server->url.len : server->command.len > 0);
}

/* Fails the request and returns false if a list is too long. */
static bool check_count(struct acp_request *request, const char *name, size_t count, int limit)
{
	if (count > (size_t)limit)
		acp_fail(request, ACP_INVALID_PARAMS, "Invalid params: `%s` has %zu elements, more than %d", name,
		         count, limit);
	return count <= (size_t)limit;
}

/* Fails the request and returns false if a parameter is wrong. */
static bool check(struct acp_server *server, struct acp_request *request, const struct opening *opening)
{
	if (!check_count(request, "additionalDirectories", opening->root_count, LIMIT_ACP_ROOTS) ||
	    !check_count(request, "mcpServers", opening->server_count, LIMIT_ACP_SERVERS))
		return false;
	const char *wrong = NULL;
	if (!is_folder_name(opening->cwd))
		wrong = "`cwd` must be an absolute path";
	for (size_t i = 0; i < opening->root_count && !wrong; i++)
		wrong = is_folder_name(opening->roots[i]) ? NULL : "`additionalDirectories` must be absolute paths";
	for (size_t i = 0; i < opening->server_count && !wrong; i++)
		wrong = is_server(opening->servers, i) ? NULL
		                                       : "each of `mcpServers` needs a name of its own and a command, "
		                                         "or type http and a url";
	if (wrong)
		acp_fail(request, ACP_INVALID_PARAMS, "Invalid params: %s", wrong);
	else if (server->session_count >= LIMIT_ACP_SESSIONS)
		acp_fail(request, ACP_INTERNAL_ERROR, "%d sessions are open: close one first", LIMIT_ACP_SESSIONS);
	return !wrong && server->session_count < LIMIT_ACP_SESSIONS;
}

/* ---- the configuration ---- */

static void write_pairs(struct json_writer *w, const char *key, const struct acp_pair *pairs, size_t count)
{
	jw_key(w, key);
	jw_object(w);
	for (size_t i = 0; i < count; i++) {
		jw_key_str(w, pairs[i].name);
		jw_str(w, pairs[i].value);
	}
	jw_object_end(w);
}

static void write_server(struct json_writer *w, const struct acp_mcp_server *server)
{
	jw_object(w);
	if (server->type.ptr) {
		jw_member_str(w, "url", server->url);
		write_pairs(w, "http_headers", server->headers, server->headers_count);
	} else {
		jw_member_str(w, "command", server->command);
		jw_key(w, "args");
		jw_array(w);
		for (size_t i = 0; i < server->args_count; i++)
			jw_str(w, server->args[i]);
		jw_array_end(w);
		write_pairs(w, "env", server->env, server->env_count);
	}
	jw_object_end(w);
}

/* Returns mcp_servers."NAME"={…}: the client's server in the form of config.toml, whose checks apply. */
static struct str server_override(const struct acp_mcp_server *server, struct arena *arena)
{
	auto_buf struct buf json, text;
	buf_init(&json, LIMIT_LINE * 2);
	buf_init(&text, LIMIT_LINE * 2);
	struct json_writer w = json_writer(&json);
	write_server(&w, server);
	const struct json *value = json_parse(arena, buf_str(&json), NULL);
	buf_append_c(&text, "mcp_servers.");
	toml_write_key(&text, server->name);
	buf_append_char(&text, '=');
	toml_write_json(&text, value);
	return arena_str(arena, buf_str(&text));
}

static struct config *load_config(const struct acp_server *server, const struct opening *opening, struct error *err)
{
	auto_arena struct arena arena = {0};
	auto_free char *cwd = str_dup(opening->cwd);
	struct str *servers = arena_array(&arena, struct str, opening->server_count);
	for (size_t i = 0; i < opening->server_count; i++)
		servers[i] = server_override(&opening->servers[i], &arena);
	struct config_source source = {
		.cwd = cwd,
		.overrides = server->overrides,
		.override_count = server->override_count,
		.servers = servers,
		.server_count = opening->server_count,
	};
	return config_load(&source, err);
}

/* Returns false, after failing the request, if the provider has no key. */
static bool check_key(struct acp_request *request, const struct config *config)
{
	struct error err;
	struct model_provider *provider = model_provider_create(config, NULL, &err);
	if (!provider)
		acp_fail(request, ACP_AUTH_REQUIRED, "Authentication required: %s", err.text);
	model_provider_destroy(provider);
	return provider;
}

/* ---- the engine ---- */

static void announce(struct acp_session *session)
{
	if (session->title)
		acp_session_send_title(session, false);
	if (session->context.size > 0)
		acp_session_update(session, acp_update_usage_update, &session->context);
	acp_slash_announce(session);
	acp_slash_ask_skills(session);
}

static void answer(struct acp_session *session, struct acp_request *request, bool names_session)
{
	struct acp_session_result result = {.session_id = names_session ? str_of(session->id) : STR_NONE};
	acp_session_view(session, &request->arena, &result);
	if (session->replay.len) {
		acp_reply_after(request, &session->replay, &result);
		buf_init(&session->replay, LIMIT_RPC_LIST);
	} else {
		acp_reply(request, &result);
	}
	announce(session);
}

static void on_configured(struct acp_session *session, const struct ev_session_configured *event)
{
	struct acp_request *request = steal(session->opening);
	bool is_new = request->method == &acp_methods[ACP_METHOD_session_new] ||
	              request->method == &acp_methods[ACP_METHOD_session_fork];
	free(steal(session->copy));
	snprintf(session->id, sizeof(session->id), "%.*s", STR_ARG(event->session_id));
	acp_choices_init(&session->choices, event, session->config->collaboration_mode);
	if (event->thread_name.len)
		acp_session_set_title(session, event->thread_name);
	answer(session, request, is_new);
}

static void on_refused(struct acp_session *session, struct str message)
{
	acp_fail_data(steal(session->opening), ACP_INTERNAL_ERROR, message, "details", message);
	session->is_dead = true;
	loop_defer(&session->server->sweep);
}

static void on_event(const struct event *event, void *self)
{
	struct acp_session *session = self;
	if (event->msg.tag == EV_session_configured && session->opening)
		on_configured(session, event->msg.session_configured);
	else if (event->msg.tag == EV_error && session->opening)
		on_refused(session, event->msg.error->message);
	else if (session->id[0])
		acp_event(session, event);
}

static void open_codex(struct acp_session *session)
{
	struct acp_server *server = session->server;
	struct codex_options options = {
		.services = server->services,
		.config = session->config,
		.source = session_source_vscode,
		.cwd = session->cwd,
		.client = server->client_name,
		.client_version = server->client_version,
		.is_interactive = true,
		.serves_tools = true,
		.steers = true,
		.runs_unasked = true,
		.on_event = on_event,
		.self = session,
	};
	session->codex = codex_open(&options);
	if (server->wire.is_slow)
		codex_hold(session->codex);
}

static int configure(struct acp_session *session, struct str resume_path, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct op_configure_session body = {.resume_path = resume_path,
	                                    .dynamic_tools = acp_client_file_specs(session, &arena)};
	struct op op = {.tag = OP_configure_session, .configure_session = &body};
	if (session->roots.count)
		body.sandbox_policy = acp_mode_sandbox(ACP_MODE_config, session->config, session->roots.items,
		                                       session->roots.count, &arena);
	return codex_submit_op(session->codex, STR(""), &op, err);
}

/* Opens a session for the request. job: of a stored session, or NULL. */
static void open_session(struct acp_server *server, struct acp_request *request, const struct opening *opening,
                         struct open_job *job)
{
	struct error err;
	struct config *config = load_config(server, opening, &err);
	if (!config) {
		acp_fail(request, ACP_INTERNAL_ERROR, "Invalid configuration: %s", err.text);
		return;
	}
	auto_free char *cwd = str_dup(opening->cwd);
	if (!dir_exists(cwd)) {
		acp_fail(request, ACP_INVALID_PARAMS, "Invalid params: `cwd` is not a folder: %.*s",
		         (int)(opening->cwd.len < 4096 ? opening->cwd.len : 4096), opening->cwd.ptr);
		config_unref(config);
		return;
	}
	if (!check_key(request, config)) {
		config_unref(config);
		return;
	}
	struct acp_session *session = acp_session_create(server);
	session->config = config;
	session->cwd = path_normalize(cwd);
	session->opening = request;
	session->on_event = acp_event;
	for (size_t i = 0; i < opening->root_count; i++)
		vec_push(&session->roots, str_copy(opening->roots[i]));
	if (job) {
		session->title = steal(job->stored.title);
		session->usage = job->stored.usage;
		session->context = job->stored.context;
		session->replay = job->replay;
		buf_init(&job->replay, 0);
	}
	open_codex(session);
	if (job)
		session->copy = steal(job->copy);
	const char *path = session->copy ? session->copy : job ? job->path : NULL;
	if (configure(session, path ? str_of(path) : STR_NONE, &err) != 0)
		on_refused(session, str_of(err.text));
}

/* ---- stored sessions ---- */

static int run_open(struct open_job *job)
{
	job->path = rollout_list_find_id(job->home, str_of(job->id), &job->err);
	if (!job->path)
		return -1;
	if (acp_replay_read(job->path, str_of(job->id), job->is_load ? &job->replay : NULL, &job->stored, &job->err) !=
	    0)
		return -1;
	if (!job->is_fork)
		return 0;
	job->copy = rollout_fork_whole(job->home, job->path, job->originator, &job->err);
	return job->copy ? 0 : -1;
}

static void on_open_work(struct acp_job *self)
{
	struct open_job *job = container_of(self, struct open_job, job);
	best_effort(run_open(job));
}

/* A keyring may hang. */
static void on_fetch_work(struct acp_job *self)
{
	struct open_job *job = container_of(self, struct open_job, job);
	auth_store_fetch((struct auth_place){job->home, job->store});
}

static void open_job_free(struct acp_job *self)
{
	struct open_job *job = container_of(self, struct open_job, job);
	buf_finish(&job->replay);
	free(job->id);
	free(job->home);
	free(job->originator);
	free(job->path);
	if (job->copy) /* no session has taken it */
		unlink(job->copy);
	free(job->copy);
	free(job->stored.title);
	free(job);
}

static void finish_open(struct acp_server *server, struct open_job *job)
{
	struct acp_request *request = job->job.request;
	struct acp_session *open = job->id ? acp_session_find(server, str_of(job->id)) : NULL;
	bool is_unwritten = open && job->err.code == ERR_not_found; /* it has had no prompt */
	if (job->err.code == ERR_not_found && !open) {
		acp_fail_no_session(request, str_of(job->id));
	} else if (job->err.code != ERR_none && !is_unwritten) {
		acp_fail_data(request, ACP_INTERNAL_ERROR, str_of(job->err.text), "details", str_of(job->err.text));
	} else if (open && !job->is_fork) {
		buf_finish(&open->replay);
		open->replay = job->replay;
		buf_init(&job->replay, 0);
		answer(open, request, false);
	} else if (check(server, request, &job->opening)) {
		open_session(server, request, &job->opening, job->id && !is_unwritten ? job : NULL);
	}
}

static void on_open_done(struct acp_job *self)
{
	struct open_job *job = container_of(self, struct open_job, job);
	if (job->job.server)
		finish_open(job->job.server, job);
	open_job_free(self);
}

static void on_fetched(struct acp_job *self)
{
	struct open_job *job = container_of(self, struct open_job, job);
	if (job->id && self->server)
		acp_job_start(self, self->server, self->request, on_open_work, on_open_done);
	else
		on_open_done(self);
}

static void start_open_job(struct acp_server *server, struct acp_request *request, const struct opening *opening)
{
	struct open_job *job = xnew(struct open_job);
	job->opening = *opening;
	job->id = opening->session_id.ptr ? str_dup(opening->session_id) : NULL;
	job->home = xstrdup(config_home(server->config));
	job->store = server->config->cli_auth_credentials_store;
	job->originator = xstrdup(server->client_name ? server->client_name : "codex_acp");
	job->is_load = request->method == &acp_methods[ACP_METHOD_session_load];
	job->is_fork = request->method == &acp_methods[ACP_METHOD_session_fork];
	job->err.code = ERR_none;
	buf_init(&job->replay, LIMIT_RPC_LIST);
	if (auth_store_is_slow((struct auth_place){job->home, job->store}))
		acp_job_start_lane(&job->job, server, request, on_fetch_work, on_fetched, open_job_free);
	else
		acp_job_start(&job->job, server, request, on_open_work, on_open_done);
}

static void start_open(struct acp_server *server, struct acp_request *request, const struct opening *opening)
{
	if (!check(server, request, opening))
		return;
	if (uuid_is_valid(opening->session_id))
		start_open_job(server, request, opening);
	else
		acp_fail_no_session(request, opening->session_id);
}

void on_acp_session_new(struct acp_server *server, struct acp_request *request,
                        const struct acp_session_new_params *params)
{
	struct opening opening = {STR_NONE,
	                          params->cwd,
	                          params->additional_directories,
	                          params->additional_directories_count,
	                          params->mcp_servers,
	                          params->mcp_servers_count};
	if (!check(server, request, &opening))
		return;
	if (auth_store_is_slow(auth_place_of(server->config)))
		start_open_job(server, request, &opening);
	else
		open_session(server, request, &opening, NULL);
}

void on_acp_session_load(struct acp_server *server, struct acp_request *request,
                         const struct acp_session_load_params *params)
{
	struct opening opening = {params->session_id,
	                          params->cwd,
	                          params->additional_directories,
	                          params->additional_directories_count,
	                          params->mcp_servers,
	                          params->mcp_servers_count};
	start_open(server, request, &opening);
}

static void start_resume(struct acp_server *server, struct acp_request *request,
                         const struct acp_session_resume_params *params)
{
	struct opening opening = {params->session_id,
	                          params->cwd,
	                          params->additional_directories,
	                          params->additional_directories_count,
	                          params->mcp_servers,
	                          params->mcp_servers_count};
	start_open(server, request, &opening);
}

void on_acp_session_resume(struct acp_server *server, struct acp_request *request,
                           const struct acp_session_resume_params *params)
{
	start_resume(server, request, params);
}

void on_acp_session_fork(struct acp_server *server, struct acp_request *request,
                         const struct acp_session_resume_params *params)
{
	start_resume(server, request, params);
}

void on_acp_session_close(struct acp_server *server, struct acp_request *request, const struct acp_session_ref *params)
{
	struct acp_session *session = acp_session_find(server, params->session_id);
	if (!session) {
		acp_fail_no_session(request, params->session_id);
		return;
	}
	acp_session_destroy(session);
	acp_reply(request, NULL);
}
