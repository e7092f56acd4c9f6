/* The user enters a short code at the issuer, on any machine, while this program asks the issuer whether that has
 * happened. */
#include "account/login_priv.h"

#include "account/account_limits.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"

enum { INTERVAL_S = 5 };

static void fail(struct login *login, enum error_code code, const char *text)
{
	struct error err;
	error_set(&err, code, "%s", text);
	login_end(login, &err);
}

static void poll(struct login *login);

static void redeem(struct login *login, struct str body)
{
	auto_arena struct arena arena = {0};
	const struct json *root = json_parse(&arena, body, NULL);
	struct str code = json_get_str(root, "authorization_code"), verifier = json_get_str(root, "code_verifier");
	if (!code.len || !verifier.len) {
		fail(login, ERR_transport, "the issuer's answer has no authorization code");
		return;
	}
	login->redirect = arena_printf(&login->arena, "%s/deviceauth/callback", login->issuer);
	login_redeem(login, code, verifier);
}

static void on_polled(int status, struct str body, const struct error *transport, void *self)
{
	struct login *login = self;
	struct error err;
	login->fetch = NULL;
	if (transport) {
		login_end(login, transport);
	} else if (status == 200) {
		redeem(login, body);
	} else if (status != 403 && status != 404) {
		error_set(&err, ERR_http_status, "device auth failed with status %d", status);
		login_end(login, &err);
	} else if (clock_now_ms() >= login->gives_up_at) {
		fail(login, ERR_timeout, "device auth timed out after 15 minutes");
	} else {
		login_wait(login, login->interval_ms, poll);
	}
}

static void poll(struct login *login)
{
	auto_buf struct buf body;
	buf_init(&body, LIMIT_AUTH_FILE);
	struct json_writer w = json_writer(&body);
	jw_object(&w);
	jw_member_cstr(&w, "device_auth_id", login->device_id);
	jw_member_cstr(&w, "user_code", login->user_code);
	jw_object_end(&w);
	login_post(login, "/api/accounts/deviceauth/token", false, buf_str(&body), on_polled);
}

/* The interval is a number of seconds as a text or as a number; 0 is for tests. */
static uint64_t read_interval_ms(const struct json *root)
{
	int64_t seconds = INTERVAL_S;
	if (!str_to_i64(str_trim(json_get_str(root, "interval")), &seconds))
		seconds = json_get_i64(root, "interval", INTERVAL_S);
	if (seconds < 0 || seconds > LIMIT_LOGIN_INTERVAL_S)
		seconds = INTERVAL_S;
	return seconds ? (uint64_t)seconds * 1000 : 100;
}

static bool is_shown_safely(struct str code)
{
	struct str same;
	return code.len > 0 && code.len <= 64 && auth_check_key(code, &same) && same.len == code.len;
}

static void on_code(int status, struct str body, const struct error *transport, void *self)
{
	struct login *login = self;
	auto_arena struct arena arena = {0};
	struct error err;
	login->fetch = NULL;
	if (transport) {
		login_end(login, transport);
		return;
	}
	if (status == 404) {
		fail(login, ERR_unsupported,
		     "device code login is not enabled for this Codex server. Use the browser login or verify the "
		     "server "
		     "URL.");
		return;
	}
	if (status != 200) {
		error_set(&err, ERR_http_status, "device code request failed with status %d", status);
		login_end(login, &err);
		return;
	}
	const struct json *root = json_parse(&arena, body, NULL);
	struct str id = json_get_str(root, "device_auth_id"), code = json_get_str(root, "user_code");
	code = code.len ? code : json_get_str(root, "usercode");
	if (!id.len || !is_shown_safely(code)) {
		fail(login, ERR_transport, "the issuer's answer has no device code");
		return;
	}
	login->device_id = arena_cstr(&login->arena, id);
	login->user_code = arena_cstr(&login->arena, code);
	login->interval_ms = read_interval_ms(root);
	login->gives_up_at = clock_now_ms() + LIMIT_LOGIN_DEVICE_MS;
	struct login_prompt prompt = {
		.url = arena_printf(&login->arena, "%s/codex/device", login->issuer),
		.user_code = login->user_code,
	};
	login_wait(login, login->interval_ms, poll);
	login->events->on_prompt(&prompt, login->self);
}

void login_device_start(struct login *login)
{
	auto_buf struct buf body;
	buf_init(&body, LIMIT_AUTH_FILE);
	struct json_writer w = json_writer(&body);
	jw_object(&w);
	jw_member_cstr(&w, "client_id", login->client_id);
	jw_object_end(&w);
	login_post(login, "/api/accounts/deviceauth/usercode", false, buf_str(&body), on_code);
}
