/* The issuer redirects browsers to two ports only. An earlier login may have been left waiting at the first one: it is
 * asked to end. */
#include "account/login_priv.h"

#include "account/account_limits.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

enum { PORT = 1455, OTHER_PORT = 1457, TRIES = 10 };
static const char path[] = "/auth/callback";

static void listen_again(struct login *login);

static void on_cancel_asked(int status, struct str body, const struct error *err, void *self)
{
	struct login *login = self;
	(void)status;
	(void)body;
	(void)err;
	login->fetch = NULL;
	login_wait(login, LIMIT_LOGIN_PORT_PAUSE_MS, listen_again);
}

static void ask_other_to_end(struct login *login)
{
	struct http_fetch_request request = {
		.method = "GET",
		.url = "http://127.0.0.1:1455/cancel",
		.max = LIMIT_ACCOUNT_ANSWER,
		.timeout_ms = LIMIT_LOGIN_CANCEL_MS,
	};
	login->fetch = http_fetch_start(login->options.http, &request, on_cancel_asked, login);
}

static void on_answer(const struct oauth_answer *answer, void *self)
{
	struct login *login = self;
	struct str why = answer->description.len ? answer->description : answer->error;
	if (answer->code.len) {
		login_redeem(login, answer->code, str_of(login->pkce.verifier));
		return;
	}
	auto_buf struct buf line;
	buf_init(&line, ERROR_TEXT_MAX * 8);
	text_append_line(&line, str_n(why.ptr, why.len < ERROR_TEXT_MAX ? why.len : ERROR_TEXT_MAX));
	error_set(&login->outcome, ERR_denied, "Sign-in failed: %.*s",
	          STR_ARG(line.len ? buf_str(&line) : STR("the answer has no authorization code")));
	login_browser_show(login);
}

static void on_cancel(void *self)
{
	struct error err;
	error_set(&err, ERR_cancelled, "Login was not completed: another login has taken its place");
	login_end(self, &err);
}

static void on_shown(void *self)
{
	struct login *login = self;
	struct error outcome = login->outcome;
	login_end(login, outcome.code ? &outcome : NULL);
}

static const struct oauth_listener_events events = {on_answer, on_cancel, on_shown};

void login_browser_show(struct login *login)
{
	if (login->outcome.code)
		oauth_listener_show(login->listener, "Sign-in failed", str_of(login->outcome.text));
	else
		oauth_listener_show(login->listener, "Signed in to Codex", STR("You may close this page."));
}

static void append_workspaces(struct buf *url, const struct config_strings *allowed)
{
	auto_buf struct buf ids;
	buf_init(&ids, LIMIT_HTTP_HEAD);
	for (size_t i = 0; i < allowed->count; i++)
		buf_printf(&ids, "%s%.*s", i ? "," : "", STR_ARG(allowed->items[i]));
	oauth_append_field(url, "allowed_workspace_id", buf_str(&ids));
}

static void prompt(struct login *login)
{
	uint16_t port = oauth_listener_port(login->listener);
	auto_buf struct buf url;
	buf_init(&url, LIMIT_HTTP_HEAD);
	login->redirect = arena_printf(&login->arena, "http://127.0.0.1:%u%s", port, path);
	buf_printf(&url, "%s/oauth/authorize?", login->issuer);
	oauth_append_field(&url, "response_type", STR("code"));
	oauth_append_field(&url, "client_id", str_of(login->client_id));
	oauth_append_field(&url, "redirect_uri", str_of(login->redirect));
	oauth_append_field(&url, "scope",
	                   STR("openid profile email offline_access api.connectors.read api.connectors.invoke"));
	oauth_append_field(&url, "code_challenge", str_of(login->pkce.challenge));
	oauth_append_field(&url, "code_challenge_method", STR("S256"));
	oauth_append_field(&url, "id_token_add_organizations", STR("true"));
	oauth_append_field(&url, "codex_cli_simplified_flow", STR("true"));
	oauth_append_field(&url, "state", str_of(login->pkce.state));
	oauth_append_field(&url, "originator", str_of(login->options.originator));
	if (login->options.config && login->options.config->forced_chatgpt_workspace_id.count)
		append_workspaces(&url, &login->options.config->forced_chatgpt_workspace_id);
	struct login_prompt shown = {.url = arena_cstr(&login->arena, buf_str(&url)), .port = port};
	login->events->on_prompt(&shown, login->self);
}

/* Listens on the first port, or after all tries on the other one. */
static void try_listen(struct login *login)
{
	bool is_last = login->tries >= TRIES;
	struct oauth_listener_options options = {is_last ? OTHER_PORT : PORT, path, login->pkce.state};
	struct error err;
	login->listener = oauth_listener_create(login->options.loop, &options, &events, login, &err);
	if (login->listener)
		prompt(login);
	else if (is_last)
		login_end(login, &err);
	else if (login->tries == 0)
		ask_other_to_end(login);
	else
		login_wait(login, LIMIT_LOGIN_PORT_PAUSE_MS, listen_again);
}

static void listen_again(struct login *login)
{
	login->tries++;
	try_listen(login);
}

void login_browser_start(struct login *login)
{
	try_listen(login);
}
