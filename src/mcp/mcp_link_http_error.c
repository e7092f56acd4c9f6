/* The sentences about failed requests: what the user can do about a refusal, and the server's own words otherwise. */
#include "base/error.h"
#include "base/json.h"
#include "mcp/mcp_http_auth.h"
#include "mcp/mcp_link_http_priv.h"
#include "net/http_head.h"
#include "oauth/oauth_challenge.h"

static void append_reason(struct buf *out, const struct mcp_exchange *exchange)
{
	auto_arena struct arena arena = {0};
	const struct json *json = json_parse(&arena, buf_str(&exchange->text), NULL);
	struct str text = json_get_str(json_get(json, "error"), "message");
	if (!text.len)
		text = json_get_str(json, "error_description");
	if (text.len)
		buf_printf(out, ": %.*s", (int)(text.len < MCP_HTTP_REASON ? text.len : MCP_HTTP_REASON), text.ptr);
}

/* Adds the scopes that out does not contain yet, separated by commas. */
static void append_scopes(struct buf *out, struct str scopes)
{
	struct str scope;
	while (str_next_part(&scopes, ' ', &scope)) {
		struct str rest = buf_str(out), known;
		bool is_known = !scope.len;
		while (!is_known && str_next_part(&rest, ',', &known))
			is_known = str_eq(known, scope);
		if (!is_known)
			buf_printf(out, "%s%.*s", out->len ? "," : "", STR_ARG(scope));
	}
}

/* True if the server requires a scope that the login lacks: the user must log in with it and those of the login. */
static bool describe_scope(const struct mcp_exchange *exchange, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct mcp_http *http = exchange->http;
	struct oauth_challenge challenge;
	auto_buf struct buf scopes = {0};
	if (exchange->status != 403 || !exchange->challenge.ptr ||
	    !oauth_challenge_read(exchange->challenge, &arena, &challenge) ||
	    !str_is(challenge.error, "insufficient_scope") || http->has_authorization)
		return false;
	buf_init(&scopes, ERROR_TEXT_MAX / 2);
	if (http->granted)
		append_scopes(&scopes, http->granted->scope);
	append_scopes(&scopes, challenge.scope);
	error_set(err, ERR_denied, "The login to the %s MCP server lacks a permission. Run `codex mcp login %s%s%.*s`.",
	          http->name, http->name, scopes.len ? " --scopes " : "", STR_ARG(buf_str(&scopes)));
	return true;
}

void mcp_http_describe_status(const struct mcp_exchange *exchange, struct error *err)
{
	const struct mcp_http *http = exchange->http;
	auto_buf struct buf reason;
	buf_init(&reason, ERROR_TEXT_MAX);
	append_reason(&reason, exchange);
	if (describe_scope(exchange, err))
		return;
	if (exchange->status == 401 && !http->has_authorization)
		error_set(err, ERR_denied, "The %s MCP server is not logged in. Run `codex mcp login %s`.", http->name,
		          http->name);
	else if (exchange->status >= 300 && exchange->status < 400)
		error_set(err, ERR_http_status,
		          "HTTP %d %s: the server redirects to %.*s; only redirects within the same origin are "
		          "followed, so set url to it if you trust it",
		          exchange->status, http_status_reason(exchange->status), STR_ARG(exchange->location));
	else if (exchange->status >= 200 && exchange->status < 300)
		error_set(err, ERR_transport, "the server answered HTTP %d without a response", exchange->status);
	else
		error_set(err, ERR_http_status, "HTTP %d %s%.*s", exchange->status,
		          http_status_reason(exchange->status), STR_ARG(buf_str(&reason)));
}

void mcp_http_describe_auth(const struct mcp_http *http, const struct error *err, struct error *ret)
{
	if (err->code == ERR_denied)
		error_set(ret, ERR_denied, "The %s MCP server is not logged in. Run `codex mcp login %s`. (%s)",
		          http->name, http->name, err->text);
	else
		*ret = *err;
}
