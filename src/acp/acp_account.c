/* A logout removes the stored credentials first, then revokes the tokens of a ChatGPT login, so that an editor that
 * ends in between leaves nothing on the disk. It succeeds even if the issuer cannot be reached. */
#include "acp/acp_account.h"

#include <stdio.h>

#include "account/login.h"
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

/* A key that is stored already is used if the request brings none. */
void on_acp_authenticate(struct acp_server *server, struct acp_request *request,
                         const struct acp_authenticate_params *params)
{
	auto_arena struct arena arena = {0};
	auto_auth struct auth auth = {0};
	struct error err;
	struct auth_place place = auth_place_of(server->config);
	struct str key = find_key(request, &arena);
	if (!str_is(params->method_id, "api-key")) {
		acp_fail(request, ACP_INVALID_PARAMS, "Unknown auth method: `api-key` is the only one");
		return;
	}
	int status = key.len ? auth_write_api_key(place, key, &err) : auth_read(place, &auth, &err);
	if (status != 0)
		acp_fail(request, err.code == ERR_invalid ? ACP_INVALID_PARAMS : ACP_INTERNAL_ERROR, "%s", err.text);
	else if (!key.len && auth.kind != AUTH_api_key)
		acp_fail(request, ACP_AUTH_REQUIRED,
		         "No API key was found: set CODEX_API_KEY or OPENAI_API_KEY, or run `codex login`");
	else
		acp_reply(request, NULL);
}

/* ---- logout ---- */

/* Answers a request, or the prompt of a session, which may have been closed meanwhile. */
struct logout {
	struct list link;
	struct acp_server *server;
	struct http_fetch *fetch; /* NULL: no token is revoked */
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

static void finish(struct logout *logout)
{
	list_remove(&logout->link);
	if (!logout->request)
		answer_prompt(logout);
	else if (logout->err.code != ERR_none)
		acp_fail(logout->request, ACP_INTERNAL_ERROR, "%s", logout->err.text);
	else
		acp_reply(logout->request, NULL);
	free(logout);
}

static void on_revoked(int status, struct str body, const struct error *err, void *self)
{
	(void)status;
	(void)body;
	(void)err;
	finish(self);
}

static void start(struct logout *logout, const struct config *config)
{
	auto_auth struct auth auth = {0};
	struct acp_server *server = logout->server;
	struct auth_place place = auth_place_of(config);
	bool has_tokens = auth_read(place, &auth, NULL) == 0 && auth.kind == AUTH_chatgpt && auth.refresh_token &&
	                  auth.refresh_token[0];
	logout->err.code = ERR_none;
	list_append(&server->logouts, &logout->link);
	if (auth_remove(place, &logout->was_there, &logout->err) != 0 || !has_tokens)
		finish(logout);
	else
		logout->fetch = login_revoke(services_http(server->services), NULL, str_of(auth.refresh_token),
		                             on_revoked, logout);
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
		free(it);
	}
}
