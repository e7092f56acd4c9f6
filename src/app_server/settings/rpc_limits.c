/* The limits come from the back end of ChatGPT. Its answer is untrusted: figures that are absent or of another type are
 * left out. A token that it refuses is refreshed once. */
#include <stdio.h>
#include <string.h>

#include "account/account.h"
#include "account/account_limits.h"
#include "account/account_refresh.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/settings/account_view.h"
#include "app_server/settings/process_settings.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "net/http_fetch.h"

struct limits_read {
	struct settings_job job;
	struct rpc_request *request; /* NULL: the client has disconnected */
	struct account_call *account;
	struct http_fetch *fetch;
	struct config *config; /* holds a reference */
	char *token;           /* as sent last */
	char *account_id;
	bool is_refused; /* a token was refused before */
};

static void read_destroy(struct limits_read *read)
{
	settings_job_finish(&read->job);
	config_unref(read->config);
	if (read->token)
		explicit_bzero(read->token, strlen(read->token));
	free(read->token);
	free(read->account_id);
	free(read);
}

static void read_fail(struct limits_read *read, const char *why)
{
	if (read->request)
		rpc_fail(read->request, APP_INTERNAL_ERROR, "failed to fetch codex rate limits: %s", why);
	read_destroy(read);
}

/* ---- the answer ---- */

static struct app_rate_limit_window *read_window(const struct json *node, struct app_rate_limit_window *to)
{
	double percent;
	int64_t seconds, resets_at;
	if (!json_to_double(json_get(node, "used_percent"), &percent) || !(percent >= 0 && percent <= 1e6))
		return NULL;
	*to = (struct app_rate_limit_window){.used_percent = (int64_t)(percent + 0.5)};
	to->has_window_duration_mins = json_to_i64(json_get(node, "limit_window_seconds"), &seconds);
	if (to->has_window_duration_mins)
		to->window_duration_mins = seconds / 60;
	to->has_resets_at = json_to_i64(json_get(node, "reset_at"), &resets_at);
	if (to->has_resets_at)
		to->resets_at = resets_at;
	return to;
}

static void reply(struct limits_read *read, const struct json *root)
{
	struct app_rate_limit_window primary, secondary;
	const struct json *limit = json_get(root, "rate_limit"), *credits = json_get(root, "credits");
	struct app_credits_snapshot snapshot_credits = {
		.has_credits = json_get_bool(credits, "has_credits", false),
		.unlimited = json_get_bool(credits, "unlimited", false),
		.balance = json_get_str(credits, "balance"),
	};
	struct app_rate_limit_snapshot snapshot = {
		.limit_id = STR("codex"),
		.primary = read_window(json_get(limit, "primary_window"), &primary),
		.secondary = read_window(json_get(limit, "secondary_window"), &secondary),
		.credits = json_is(credits, JSON_object) ? &snapshot_credits : NULL,
		.plan_type = json_get_str(root, "plan_type"),
	};
	struct app_get_account_rate_limits_response response = {
		.rate_limits = &snapshot,
		.account_id = str_of(read->account_id),
	};
	if (read->request)
		rpc_reply(read->request, &response);
}

static void ask_account(struct limits_read *read);

static void on_answer(int status, struct str body, const struct error *err, void *self)
{
	struct limits_read *read = self;
	auto_arena struct arena arena = {0};
	char text[64];
	read->fetch = NULL;
	if (err) {
		read_fail(read, err->text);
		return;
	}
	if (status == 401 && !read->is_refused) {
		read->is_refused = true;
		ask_account(read);
		return;
	}
	const struct json *root = json_parse(&arena, body, NULL);
	if (status != 200 || !json_is(root, JSON_object)) {
		snprintf(text, sizeof(text), "the answer has status %d%s", status, status == 200 ? " and no JSON" : "");
		read_fail(read, text);
		return;
	}
	reply(read, root);
	read_destroy(read);
}

/* ---- the request ---- */

static void send_request(struct limits_read *read)
{
	auto_arena struct arena arena = {0};
	struct str base = str_of(read->config->chatgpt_base_url);
	while (str_has_suffix(base, "/"))
		base.len--;
	const struct str headers[] = {
		str_of(arena_printf(&arena, "Authorization: Bearer %s", read->token)),
		str_of(arena_printf(&arena, "chatgpt-account-id: %s", read->account_id ? read->account_id : "")),
	};
	struct http_fetch_request request = {
		.method = "GET",
		.url = arena_printf(&arena, "%.*s/wham/usage", STR_ARG(base)),
		.headers = headers,
		.header_count = read->account_id ? 2 : 1,
		.max = LIMIT_ACCOUNT_ANSWER,
		.timeout_ms = LIMIT_ACCOUNT_ANSWER_MS,
	};
	read->fetch = http_fetch_start(services_http(read->job.server->services), &request, on_answer, read);
}

static void on_account(const struct account_token *token, const struct error *err, void *self)
{
	struct limits_read *read = self;
	read->account = NULL;
	if (err) {
		read_fail(read, err->text);
		return;
	}
	if (read->token)
		explicit_bzero(read->token, strlen(read->token));
	free(read->token);
	free(read->account_id);
	read->token = str_dup(token->access_token);
	read->account_id = token->account_id.ptr ? str_dup(token->account_id) : NULL;
	send_request(read);
}

static void ask_account(struct limits_read *read)
{
	struct account_request request = {
		.place = auth_place_of(read->config),
		.refused = read->is_refused ? str_of(read->token) : STR_NONE,
		.account_id = str_of(read->account_id),
	};
	read->account = account_get(services_accounts(read->job.server->services), &request, on_account, read);
}

static void on_server_end(struct settings_job *job)
{
	struct limits_read *read = container_of(job, struct limits_read, job);
	account_cancel(read->account);
	http_fetch_cancel(read->fetch);
	read_destroy(read);
}

static void on_cancel(struct rpc_request *request)
{
	((struct limits_read *)request->self)->request = NULL;
}

enum rpc_verdict on_rpc_account_rate_limits_read(struct rpc_request *request,
                                                 const struct app_get_account_rate_limits_params *params)
{
	auto_auth struct auth auth = {0};
	(void)params;
	if (account_must_wait(request))
		return RPC_WAIT;
	account_find(request->server->config, &auth);
	if (!account_is_chatgpt(&auth))
		return account_refuse(request, "to read rate limits");
	struct limits_read *read = xnew(struct limits_read);
	read->request = request;
	read->config = config_ref(request->server->config);
	read->job.on_end = on_server_end;
	settings_job_init(&read->job, request->server);
	ask_account(read);
	return rpc_wait(request, on_cancel, read);
}
