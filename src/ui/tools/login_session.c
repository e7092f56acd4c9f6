/* The browser is only a convenience: it is started without waiting for it, and its failure is no error, because the URL
 * is printed, too. */
#include "ui/tools/login_session.h"

#include <stdio.h>
#include <string.h>

#include "account/login.h"
#include "account/personal_token.h"
#include "base/error.h"
#include "base/mem.h"
#include "config/auth.h"
#include "config/config.h"
#include "config/config_env.h"
#include "loop/loop.h"
#include "net/http_client.h"

enum { EXIT_FAILED = 1 };

struct session {
	const struct login_session_options *options;
	struct loop *loop;
	struct http_client *http;
	uv_process_t browser;
	bool has_browser;
	struct auth auth; /* of a personal access token */
	int status;
};

static bool session_open(struct session *session)
{
	struct http_client_options options = {.ca_file = config_env_ca_file()};
	struct error err;
	session->loop = loop_create(&err);
	if (!session->loop) {
		fprintf(stderr, "%s\n", err.text);
		return false;
	}
	session->http = http_client_create(session->loop, &options);
	return true;
}

static void session_close(struct session *session)
{
	if (session->has_browser)
		uv_close((uv_handle_t *)&session->browser, NULL);
	http_client_destroy(session->http);
	loop_destroy(session->loop);
}

/* ---- the browser ---- */

static bool start_browser(struct session *session, const char *program, const char *url)
{
	char *argv[] = {(char *)program, (char *)url, NULL};
	uv_stdio_container_t none[3] = {{.flags = UV_IGNORE}, {.flags = UV_IGNORE}, {.flags = UV_IGNORE}};
	uv_process_options_t options = {
		.file = program,
		.args = argv,
		.flags = UV_PROCESS_DETACHED,
		.stdio = none,
		.stdio_count = 3,
	};
	int status = uv_spawn(loop_uv(session->loop), &session->browser, &options);
	session->has_browser = true; /* the handle needs closing even after a failure */
	uv_unref((uv_handle_t *)&session->browser);
	return status == 0;
}

static void open_browser(struct session *session, const char *url)
{
	const char *chosen = config_env("BROWSER");
	const char *program = chosen ? chosen : config_env("WSL_DISTRO_NAME") ? "wslview" : "xdg-open";
	if (!start_browser(session, program, url))
		fputs("No browser could be started.\n", stderr);
}

/* ---- the login ---- */

static void on_prompt(const struct login_prompt *prompt, void *self)
{
	struct session *session = self;
	if (prompt->user_code) {
		printf("Follow these steps to sign in with ChatGPT using device code authorization:\n\n"
		       "1. Open this link in your browser and sign in to your account\n   %s\n\n"
		       "2. Enter this one-time code (expires in 15 minutes)\n   %s\n\n"
		       "Device codes are a common phishing target. Never share this code.\n\n",
		       prompt->url, prompt->user_code);
		fflush(stdout);
		return;
	}
	fprintf(stderr,
	        "Starting local login server on http://localhost:%u.\n"
	        "If your browser did not open, navigate to this URL to authenticate:\n\n%s\n\n"
	        "On a remote or headless machine? Use `codex login --device-auth` instead.\n",
	        prompt->port, prompt->url);
	open_browser(session, prompt->url);
}

static void on_done(const struct error *err, void *self)
{
	struct session *session = self;
	session->status = err ? EXIT_FAILED : 0;
	if (!err)
		fputs("Successfully logged in\n", stderr);
	else
		fprintf(stderr, "Error logging in%s: %s\n", session->options->is_device ? " with device code" : "",
		        err->text);
	loop_stop(session->loop);
}

int login_session_run(const struct login_session_options *options)
{
	static const struct login_events events = {on_prompt, on_done};
	struct session session = {.options = options};
	if (!session_open(&session))
		return EXIT_FAILED;
	const char *originator = config_env("CODEX_INTERNAL_ORIGINATOR_OVERRIDE");
	struct login_options login = {
		.loop = session.loop,
		.http = session.http,
		.place = auth_place_of(options->config),
		.config = options->config,
		.issuer = options->issuer,
		.client_id = options->client_id,
		.originator = originator ? originator : "codex_cli_rs",
		.is_device = options->is_device,
	};
	login_start(&login, &events, &session);
	loop_run(session.loop);
	session_close(&session);
	return session.status;
}

/* ---- a personal access token ---- */

static void on_whose(int status, struct str body, const struct error *transport, void *self)
{
	struct session *session = self;
	const struct config *config = session->options->config;
	struct auth *auth = &session->auth;
	struct error err;
	bool is_stored = personal_token_read(status, body, transport, auth, &err) == 0 &&
	                 auth_allows_workspace(&config->forced_chatgpt_workspace_id, auth->account_id, &err) &&
	                 auth_write(auth_place_of(config), auth, &err) == 0;
	session->status = is_stored ? 0 : EXIT_FAILED;
	if (is_stored)
		fputs("Successfully logged in\n", stderr);
	else
		fprintf(stderr, "Error logging in with access token: %s\n", err.text);
	loop_stop(session->loop);
}

int login_session_token(const struct config *config, struct str token)
{
	struct login_session_options options = {.config = config};
	struct session session = {
		.options = &options,
		.auth = {.kind = AUTH_personal, .access_token = str_dup(token)},
	};
	if (session_open(&session)) {
		personal_token_ask(session.http, token, on_whose, &session);
		loop_run(session.loop);
		session_close(&session);
	} else {
		session.status = EXIT_FAILED;
	}
	auth_finish(&session.auth);
	return session.status;
}

/* ---- the logout ---- */

static void on_revoked(int status, struct str body, const struct error *err, void *self)
{
	struct session *session = self;
	(void)status;
	(void)body;
	(void)err;
	loop_stop(session->loop);
}

/* A failure is ignored: the tokens have been removed. */
static void revoke_token(char *token)
{
	struct session session = {0};
	if (!session_open(&session))
		return;
	login_revoke(session.http, NULL, str_of(token), on_revoked, &session);
	loop_run(session.loop);
	session_close(&session);
	explicit_bzero(token, strlen(token));
}

int login_session_logout(const char *home, const struct config *config)
{
	struct auth_place place = config ? auth_place_of(config) : auth_place_file(home);
	auto_free char *token = NULL;
	struct error err;
	bool was_there;
	if (auth_remove(place, &token, &was_there, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return EXIT_FAILED;
	}
	if (token)
		revoke_token(token);
	fputs(was_there ? "Successfully logged out\n" : "Not logged in\n", stderr);
	return 0;
}
