/* Maps libcurl's many results to the four cases that callers distinguish (no connection, a broken one, a timeout, a
 * configuration error). The texts name the host, the reason and what to do. */
#include <errno.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/http_client_priv.h"

static const struct error_row {
	CURLcode result;
	enum error_code code;
	const char *before; /* "before host:port after: reason" */
	const char *after;
} error_rows[] = {
	{CURLE_URL_MALFORMAT, ERR_invalid, "the URL of", " is invalid"},
	{CURLE_COULDNT_RESOLVE_HOST, ERR_connect, "the host name of", " cannot be resolved"},
	{CURLE_COULDNT_RESOLVE_PROXY, ERR_connect, "the proxy for", " cannot be resolved"},
	{CURLE_COULDNT_CONNECT, ERR_connect, "cannot connect to", ""},
	{CURLE_PROXY, ERR_connect, "the proxy does not connect to", ""},
	{CURLE_OPERATION_TIMEDOUT, ERR_timeout, "timeout while connecting to", ""},
	{CURLE_SSL_CONNECT_ERROR, ERR_connect, "the TLS handshake with", " failed"},
	{CURLE_SSL_CERTPROBLEM, ERR_config, "the client certificate for", " cannot be used"},
	{CURLE_PEER_FAILED_VERIFICATION, ERR_config, "the TLS certificate of", " is not trusted"},
};

/* Results without a row are connection errors if nothing was sent yet, and transport errors afterwards. */
static const struct error_row early_row = {CURLE_OK, ERR_connect, "cannot connect to", ""};
static const struct error_row late_row = {CURLE_OK, ERR_transport, "the connection to", " was lost"};

static const struct error_row *row_get(const struct http_call *call, CURLcode result)
{
	for (size_t i = 0; i < countof(error_rows); i++)
		if (error_rows[i].result == result)
			return &error_rows[i];
	curl_off_t ready_at = 0;
	call->client->curl->easy_getinfo(call->easy, CURLINFO_PRETRANSFER_TIME_T, &ready_at);
	return ready_at ? &late_row : &early_row;
}

static struct str without_brackets(struct str host)
{
	return host.len > 2 && host.ptr[0] == '[' ? str_n(host.ptr + 1, host.len - 2) : host;
}

/* True if libcurl's "Failed to connect to HOST port PORT …" names another address than that of the URL. */
static bool names_proxy(const struct http_call *call, struct str detail)
{
	char port[32];
	snprintf(port, sizeof(port), " port %.*s ", STR_ARG(call->url.port));
	return str_find(detail, without_brackets(call->url.host)) < 0 ||
	       (str_find(detail, STR(" port ")) >= 0 && str_find(detail, str_of(port)) < 0);
}

/* libcurl names the host that it could not reach, which may be a proxy, but not the reason. */
static void append_connect_reason(const struct http_call *call, struct str detail, struct buf *out)
{
	long sys = 0;
	call->client->curl->easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &sys);
	bool is_proxy = names_proxy(call, detail);
	if (is_proxy || !sys)
		buf_append_str(out, detail);
	if (is_proxy && sys)
		buf_append_c(out, ": ");
	if (sys)
		buf_append_c(out, strerror((int)sys));
	if (is_proxy)
		buf_append_c(out, "; check the proxy settings of the environment");
}

/* Returns how an established connection ended; NULL if libcurl's words say it. */
static const char *end_of(CURLcode result, struct str detail)
{
	if (result == CURLE_GOT_NOTHING)
		return "the server closed the connection without an answer";
	if (result == CURLE_PARTIAL_FILE)
		return "the server closed the connection before the end of its answer";
	if (str_eq(detail, STR("select/poll returned error")) || str_has_suffix(detail, "Connection reset by peer"))
		return "the server, or a proxy on the way, reset the connection";
	return NULL;
}

static void append_reason(const struct http_call *call, CURLcode result, struct buf *out)
{
	struct str detail = str_of(call->detail);
	if (detail.len == 0)
		detail = str_of(call->client->curl->easy_strerror(result));
	const char *end = end_of(result, detail);
	if (end)
		detail = str_of(end);
	str_cut_prefix(&detail, "SSL certificate problem: ");
	if (result == CURLE_COULDNT_CONNECT) {
		append_connect_reason(call, detail, out);
		return;
	}
	buf_append_str(out, detail);
	if (result == CURLE_PEER_FAILED_VERIFICATION && !call->client->ca_file)
		buf_append_c(out, "; for a private CA, set CODEX_CA_CERTIFICATE to its certificate file");
}

static void explain_ca(const struct http_call *call, struct error *err)
{
	const char *path = call->client->ca_file ? call->client->ca_file : HTTP_SYSTEM_CA_FILE;
	if (access(path, R_OK) != 0)
		error_sys(err, errno, "cannot read the CA file %s", path);
	else
		error_set(err, ERR_config, "the CA file %s contains no certificate in PEM format", path);
	err->code = ERR_config;
}

void http_call_explain(const struct http_call *call, CURLcode result, struct error *err)
{
	if (result == CURLE_SSL_CACERT_BADFILE) {
		explain_ca(call, err);
		return;
	}
	auto_buf struct buf reason;
	buf_init(&reason, KIB);
	append_reason(call, result, &reason);
	const struct error_row *row = row_get(call, result);
	error_set(err, row->code, "%s %.*s:%.*s%s: %.*s", row->before, STR_ARG(call->url.host), STR_ARG(call->url.port),
	          row->after, STR_ARG(buf_str(&reason)));
}
