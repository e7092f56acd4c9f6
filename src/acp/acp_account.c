/* A logout removes the stored credentials first, then revokes the tokens of a ChatGPT login, so that an editor that
 * ends in between leaves nothing on the disk. It succeeds even if the issuer cannot be reached. */
#include "acp/acp_account.h"

#include <stdio.h>
#include <string.h>

#include "account/login.h"
#include "acp/acp_job.h"
#include "acp/acp_method.h"
#include "acp/acp_session.h"
#include "base/json.h"
#include "base/mem.h"
#include "config/auth.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"
#include "net/http_fetch.h"

/* ---- authenticate ---- */

static struct str find_key(const struct acp_request *request, struct arena *arena)
{
	const char *names[] = {"CODEX_API_KEY", "OPENAI_API_KEY"};
	const struct json *meta = request->meta.ptr ? json_parse(arena, request->meta, NULL) : NULL;
	struct str key = json_get_str(json_get(meta, "api-key"), "apiKey");
	for (size_t i = 0; i < countof(names) && !key.len; i++)
		key = str_of(config_env(names[i]));
	return key;
}

struct authentication {
	struct acp_job job;
	struct config *config; /* holds a reference */
	char *key;             /* that the request brings, or NULL */
	struct auth auth;
	struct error err; /* ERR_none: stored, or read */
};

/* A key that is stored already is used if the request brings none. */
static void on_authenticate_work(struct acp_job *job)
{
	struct authentication *it = container_of(job, struct authentication, job);
	struct auth_place place = auth_place_of(it->config);
	it->err.code = ERR_none;
	if (it->key) {
		best_effort(auth_write_api_key(place, str_of(it->key), &it->err));
	} else {
		auth_store_fetch(place);
		best_effort(auth_read(place, &it->auth, &it->err));
	}
}

static void authentication_free(struct acp_job *job)
{
	struct authentication *it = container_of(job, struct authentication, job);
	auth_finish(&it->auth);
	config_unref(it->config);
	if (it->key)
		explicit_bzero(it->key, strlen(it->key));
	free(it->key);
	free(it);
}

static void on_authenticated(struct acp_job *job)
{
	struct authentication *it = container_of(job, struct authentication, job);
	if (job->request && it->err.code)
		acp_fail(job->request, it->err.code == ERR_invalid ? ACP_INVALID_PARAMS : ACP_INTERNAL_ERROR, "%s",
		         it->err.text);
	else if (job->request && !it->key && it->auth.kind != AUTH_api_key)
		acp_fail(job->request, ACP_AUTH_REQUIRED,
		         "No API key was found: set CODEX_API_KEY or OPENAI_API_KEY, or run `codex login`");
	else if (job->request)
		acp_reply(job->request, NULL);
	authentication_free(job);
}

void on_acp_authenticate(struct acp_server *server, struct acp_request *request,
                         const struct acp_authenticate_params *params)
{
	auto_arena struct arena arena = {0};
	struct str key = find_key(request, &arena);
	if (!str_is(params->method_id, "api-key")) {
		acp_fail(request, ACP_INVALID_PARAMS, "Unknown auth method: `api-key` is the only one");
		return;
	}
	struct authentication *it = xnew(struct authentication);
	it->config = config_ref(server->config);
	it->key = key.len ? str_dup(key) : NULL;
	acp_job_start_lane(&it->job, server, request, on_authenticate_work, on_authenticated,
	                   it->key ? NULL : authentication_free);
}

/* ---- logout ---- */

/* Answers a request, or the prompt of a session, which may have been closed meanwhile. */
struct logout {
	struct acp_job job;    /* which removes the credentials */
	struct list link;      /* while the token is revoked */
	struct config *config; /* holds a reference */
	struct http_fetch *fetch;
	char *token; /* to revoke, or NULL */
	struct acp_server *server;
	struct acp_request *request;
	char session_id[UUID_TEXT_SIZE], prompt_id[ACP_PROMPT_ID_SIZE];
	bool was_there;
	struct error err; /* ERR_none: removed */
};

static void answer_prompt(struct logout *logout)
{
	struct acp_session *session = acp_session_find(logout->server, str_of(logout->session_id));
	struct acp_prompt *prompt = session ? acp_prompt_find(session, str_of(logout->prompt_id)) : NULL;
	if (!prompt)
		return;
	if (logout->err.code != ERR_none) {
		acp_prompt_fail(session, prompt, ACP_INTERNAL_ERROR, str_of(logout->err.text));
		return;
	}
	acp_session_say(session,
	                logout->was_there ? STR("The stored login was removed.\n") : STR("No login was stored.\n"),
	                STR_NONE);
	acp_prompt_end(session, prompt, acp_stop_reason_end_turn);
}

static void logout_free(struct logout *logout)
{
	config_unref(logout->config);
	if (logout->token)
		explicit_bzero(logout->token, strlen(logout->token));
	free(logout->token);
	free(logout);
}

static void finish(struct logout *logout)
{
	if (!logout->request)
		answer_prompt(logout);
	else if (logout->err.code != ERR_none)
		acp_fail(logout->request, ACP_INTERNAL_ERROR, "%s", logout->err.text);
	else
		acp_reply(logout->request, NULL);
	logout_free(logout);
}

static void on_revoked(int status, struct str body, const struct error *err, void *self)
{
	struct logout *logout = self;
	(void)status;
	(void)body;
	(void)err;
	list_remove(&logout->link);
	finish(logout);
}

static void on_remove_work(struct acp_job *job)
{
	struct logout *logout = container_of(job, struct logout, job);
	logout->err.code = ERR_none;
	best_effort(auth_remove(auth_place_of(logout->config), &logout->token, &logout->was_there, &logout->err));
}

static void on_removed(struct acp_job *job)
{
	struct logout *logout = container_of(job, struct logout, job);
	struct acp_server *server = job->server;
	if (!server) {
		logout_free(logout);
	} else if (!logout->token) {
		finish(logout);
	} else {
		list_append(&server->logouts, &logout->link);
		logout->fetch =
			login_revoke(services_http(server->services), NULL, str_of(logout->token), on_revoked, logout);
	}
}

static void start(struct logout *logout, struct config *config)
{
	logout->config = config_ref(config);
	acp_job_start_lane(&logout->job, logout->server, logout->request, on_remove_work, on_removed, NULL);
}

static struct logout *logout_create(struct acp_server *server)
{
	struct logout *logout = xnew(struct logout);
	logout->server = server;
	return logout;
}

void on_acp_logout(struct acp_server *server, struct acp_request *request, const struct acp_nothing *params)
{
	struct logout *logout = logout_create(server);
	(void)params;
	logout->request = request;
	start(logout, server->config);
}

void acp_logout_for(struct acp_session *session, struct acp_prompt *prompt)
{
	struct logout *logout = logout_create(session->server);
	prompt->is_aside = true;
	snprintf(logout->session_id, sizeof(logout->session_id), "%s", session->id);
	snprintf(logout->prompt_id, sizeof(logout->prompt_id), "%s", prompt->id);
	start(logout, session->config);
}

void acp_logouts_finish(struct acp_server *server)
{
	struct logout *it;
	list_for_each(it, &server->logouts, link) {
		list_remove(&it->link);
		http_fetch_cancel(it->fetch);
		logout_free(it);
	}
}
