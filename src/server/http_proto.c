/* Checks come before the body is read, so that a client without the token cannot make the server store one, and are
 * made again when the request is dispatched, which then answers. */
#include "server/http_proto.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/access_token.h"
#include "net/http_head.h"
#include "net/http_server.h"
#include "net/http_url.h"
#include "server/http_proto_priv.h"
#include "server/page_access.h"
#include "server/kept_session.h"
#include "transport/transport_listen.h"

/* ---- answers ---- */

void http_request_answer(struct http_request *request, int status, struct str json, const struct str *headers,
                         size_t header_count)
{
	struct str all[4] = {STR("content-type: application/json"), STR("cache-control: no-store")};
	size_t count = 2;
	for (size_t i = 0; i < header_count && count < countof(all); i++)
		all[count++] = headers[i];
	http_reply_head(request->exchange, status, all, count, (int64_t)json.len);
	http_reply_data(request->exchange, json);
	http_reply_end(request->exchange);
}

static const char *code_of(int status)
{
	switch (status) {
#define REFUSAL(status, code) \
	case status:          \
		return #code;
#include "server/http_refusal.def"
#undef REFUSAL
	}
	return "internal";
}

static void refuse(struct http_request *request, int status, const char *message, const char *key, uint64_t value,
                   struct str header)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_RPC_ERROR);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_key(&w, "error");
	jw_object(&w);
	jw_member_cstr(&w, "code", code_of(status));
	jw_member_cstr(&w, "message", message);
	jw_object_end(&w);
	if (key)
		jw_member_i64(&w, key, (int64_t)value);
	jw_object_end(&w);
	http_request_answer(request, status, buf_str(&out), &header, header.ptr != NULL);
}

void http_refuse_with_header(struct http_request *request, int status, const char *message, struct str header)
{
	refuse(request, status, message, NULL, 0, header);
}

void http_request_refuse_with(struct http_request *request, int status, const char *message, const char *key,
                              uint64_t value)
{
	refuse(request, status, message, key, value, STR_NONE);
}

void http_request_refuse(struct http_request *request, int status, const char *message)
{
	refuse(request, status, message, NULL, 0, STR_NONE);
}

/* ---- routes ---- */

struct route {
	const char *method, *path;
	http_route_fn run;
	bool needs_token, is_of_page;
};

static const struct route routes[] = {
#define ROUTE(method, path, handler, needs_token) {#method, path, on_route_##handler, needs_token, false},
#define PAGE_ROUTE(method, path, handler, needs_token) {#method, path, on_route_##handler, needs_token, true},
#include "server/http_routes.def"
#undef PAGE_ROUTE
#undef ROUTE
};

/* Compares a path with a route's, in which an asterisk matches any part; sets *ret_id to that part. */
static bool matches(const char *pattern, struct str path, struct str *ret_id)
{
	struct str rest = str_of(pattern), want, part;
	for (;;) {
		bool has_want = str_next_part(&rest, '/', &want), has_part = str_next_part(&path, '/', &part);
		if (!has_want || !has_part)
			return has_want == has_part;
		if (str_is(want, "*"))
			*ret_id = part;
		else if (!str_eq(want, part))
			return false;
	}
}

static bool is_served(const struct http_proto *proto, const struct route *route)
{
	return proto->page || !route->is_of_page;
}

static const struct route *find_route(const struct http_proto *proto, struct str method, struct str path,
                                      struct str *ret_id)
{
	for (size_t i = 0; i < countof(routes); i++)
		if (str_is(method, routes[i].method) && matches(routes[i].path, path, ret_id) &&
		    is_served(proto, &routes[i]))
			return &routes[i];
	return NULL;
}

/* Answers 404, or 405 with the methods of the path. */
static void refuse_route(struct http_request *request, struct str path)
{
	auto_buf struct buf allow;
	struct str id;
	buf_init(&allow, KIB);
	for (size_t i = 0; i < countof(routes); i++)
		if (matches(routes[i].path, path, &id) && is_served(request->proto, &routes[i]))
			buf_printf(&allow, "%s%s", allow.len ? ", " : "allow: ", routes[i].method);
	if (!allow.len && !request->proto->page && grpc_method_find(path) && str_is(request->head->method, "POST"))
		http_request_refuse(request, 415, "gRPC needs HTTP/2 and `content-type: application/grpc`");
	else if (!request->proto->page && grpc_method_find(path))
		refuse(request, 405, "gRPC uses POST", NULL, 0, STR("allow: POST"));
	else if (!allow.len)
		http_request_refuse(request, 404, "there is no such endpoint; docs/http.md lists them");
	else
		refuse(request, 405, "the endpoint does not have this method", NULL, 0, buf_str(&allow));
}

/* ---- checks ---- */

struct str http_bearer(const struct http_head *head)
{
	struct str shown = http_head_get(head, "authorization");
	ptrdiff_t blank = str_find_char(shown, ' ');
	if (blank < 0 || !str_equal_fold(str_n(shown.ptr, (size_t)blank), STR("bearer")))
		return STR_NONE;
	return str_trim(str_skip(shown, (size_t)blank + 1));
}

static bool has_token(const struct http_proto *proto, const struct http_head *head)
{
	return !proto->options.token || access_token_matches(proto->options.token, http_bearer(head));
}

/* At a loopback address, only names of this machine are accepted. Web pages cannot connect to a Unix socket, and do not
 * have the token that other addresses require. */
static bool has_right_host(const struct http_proto *proto, const struct http_head *head)
{
	const struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct str host = http_head_get(head, "host");
	return !proto->is_loopback || !host.ptr ||
	       http_host_is_allowed(host, (const struct sockaddr *)&loopback, NULL, 0);
}

static struct str path_of(const struct http_head *head, struct str *ret_query)
{
	struct str path;
	*ret_query = head->target;
	str_next_part(ret_query, '?', &path);
	return path;
}

static struct http_verdict refusal(int status, const char *reason)
{
	return (struct http_verdict){.status = status, .reason = reason};
}

static bool is_too_long(const struct http_head *head)
{
	uint64_t len;
	return str_to_u64(http_head_get(head, "content-length"), &len) && len > LIMIT_LINE;
}

static struct http_verdict check_access(const struct http_proto *proto, const struct http_head *head,
                                        const struct route *route, struct str path)
{
	struct http_verdict verdict = {0};
	if (proto->page) {
		http_page_check(proto->page, head, route, route && route->needs_token, &verdict);
		return verdict;
	}
	if (http_head_get(head, "origin").ptr)
		return refusal(403, "requests of web pages are not served");
	if (!has_right_host(proto, head))
		return refusal(403, "the Host header does not name this server");
	const struct grpc_method *method = grpc_method_find(path);
	bool is_open = (route && !route->needs_token) || (method && !method->needs_token);
	if (!is_open && !has_token(proto, head))
		return refusal(401, "the request lacks the header `authorization: Bearer TOKEN` with the token of "
		                    "this server");
	return verdict;
}

static struct http_verdict check(const struct http_proto *proto, const struct http_head *head)
{
	struct str query, id, path = path_of(head, &query);
	const struct route *route = find_route(proto, head->method, path, &id);
	struct http_verdict verdict = check_access(proto, head, route, path);
	bool is_whole = route && route->run != on_route_stream;
	return !verdict.status && is_whole && is_too_long(head) ? refusal(413, "the body is longer than 16 MiB")
	                                                        : verdict;
}

static enum http_body_use body_use(const struct http_head *head, void *self)
{
	struct str query, id;
	const struct http_proto *proto = self;
	const struct route *route = find_route(proto, head->method, path_of(head, &query), &id);
	if (check(proto, head).status != 0 || (proto->page && !route))
		return HTTP_BODY_SKIP;
	bool is_stream = (!proto->page && grpc_is_call(head)) || (route && route->run == on_route_stream);
	return is_stream ? HTTP_BODY_STREAM : HTTP_BODY_WHOLE;
}

static void dispatch(struct http_request *request)
{
	const struct route *route = find_route(request->proto, request->head->method, request->path, &request->id);
	bool names_session = request->id.ptr && str_has_prefix(request->path, "/v1/sessions/");
	request->session = names_session ? http_session_find(request->proto, request->id) : NULL;
	if (!route)
		refuse_route(request, request->path);
	else if (names_session && !request->session)
		http_request_refuse(request, 404, "there is no session with this id; it may have ended");
	else if (!request->proto->page || !http_page_refuse_type(request))
		route->run(request);
}

static void on_request(struct http_exchange *exchange, const struct http_head *head, struct str body, void *self)
{
	struct http_proto *proto = self;
	struct http_request request = {.proto = proto, .exchange = exchange, .head = head, .body = body};
	struct http_verdict verdict = check(proto, head);
	int status = verdict.status;
	bool is_call = !proto->page && grpc_is_call(head) && http_exchange_is_http2(exchange);
	request.path = path_of(head, &request.query);
	request.device = verdict.device;
	if (request.device && !status)
		page_access_seen(request.device);
	if (is_call && (!status || status == 401))
		grpc_accept(proto, exchange, head, grpc_method_find(request.path), status == 0);
	else if (status && proto->page)
		http_page_refuse(&request, &verdict);
	else if (status)
		refuse(&request, status, verdict.reason, NULL, 0,
		       status == 401 ? STR("www-authenticate: Bearer") : STR_NONE);
	else
		dispatch(&request);
}

/* A request that the HTTP server refuses: its framing is wrong, or it exceeds a limit. */
static void on_refusal(struct http_exchange *exchange, int status, void *self)
{
	struct http_request request = {.proto = self, .exchange = exchange};
	http_request_refuse(&request, status,
	                    status == 413 ? "the body is longer than 16 MiB" : http_status_reason(status));
}

/* ---- the server ---- */

static const struct scheme {
	const char *name, *socket; /* the beginning of an address, here and of a transport_listener */
	bool is_tls;
} schemes[] = {{"http://", "tcp://", false}, {"https://", "tcp://", true}, {"http+unix://", "unix://", false}};

static const struct scheme *find_scheme(const char *address)
{
	for (size_t i = 0; i < countof(schemes); i++)
		if (str_has_prefix(str_of(address), schemes[i].name))
			return &schemes[i];
	return NULL;
}

bool http_proto_is_address(const char *address)
{
	return find_scheme(address);
}

static int check_address(const struct http_proto *proto, const struct scheme *scheme, const char *address,
                         const char *socket, struct error *err)
{
	const struct tls_files *files = &proto->options.tls;
	if (str_has_prefix(str_of(socket), "tcp://") && !transport_listener_is_address(socket))
		return error_set(err, ERR_usage, "%s: expected %sIP:PORT with a numeric address", address,
		                 scheme->name);
	if (!proto->page && !proto->options.token && !transport_listener_is_local(socket))
		return error_set(err, ERR_usage,
		                 "%s: other machines can reach this address and run commands: add --token-file FILE, "
		                 "or listen on 127.0.0.1",
		                 address);
	if (scheme->is_tls && (!files->certificate || !files->key))
		return error_set(err, ERR_usage, "%s requires --tls-cert FILE and --tls-key FILE", address);
	if (!scheme->is_tls && (files->certificate || files->key || files->client_ca))
		return error_set(err, ERR_usage, "--tls-cert, --tls-key and --tls-client-ca require --listen https://");
	return 0;
}

static void on_connect(int fd, void *self)
{
	struct http_proto *proto = self;
	http_server_serve(proto->server, fd);
}

static int start(struct http_proto *proto, const char *address, struct error *err)
{
	const struct scheme *scheme = find_scheme(address);
	struct tls_server *tls = NULL;
	auto_free char *socket = xasprintf("%s%s", scheme->socket, address + strlen(scheme->name));
	int status = check_address(proto, scheme, address, socket, err);
	if (status != 0)
		return status;
	if (scheme->is_tls && !(tls = tls_server_create(&proto->options.tls, err)))
		return -(int)err->code;
	proto->server = http_server_create_silent(proto->options.loop, on_request, proto);
	http_server_use_tls(proto->server, tls);
	http_server_limit_bodies(proto->server, LIMIT_LINE, body_use);
	http_server_answer_refusals(proto->server, on_refusal);
	http_server_accept_http2(proto->server);
	proto->listener = transport_listener_create(proto->options.loop, socket, on_connect, proto, err);
	if (!proto->listener)
		return -(int)err->code;
	proto->is_loopback = str_has_prefix(str_of(socket), "tcp://") && transport_listener_is_local(socket);
	proto->address =
		xasprintf("%s%s", scheme->name, transport_listener_address(proto->listener) + strlen(scheme->socket));
	if (proto->page)
		http_page_prepare(proto);
	return 0;
}

struct http_proto *http_proto_create(const struct http_proto_options *options, const char *address, struct error *err)
{
	struct http_proto *proto = xnew(struct http_proto);
	proto->options = *options;
	list_init(&proto->sessions);
	list_init(&proto->watches);
	list_init(&proto->calls);
	loop_deferred_init(&proto->sweep, options->loop, http_sessions_sweep, proto);
	proto->page = options->page ? http_page_create(proto, options->page) : NULL;
	if (start(proto, address, err) == 0)
		return proto;
	http_proto_destroy(proto);
	return NULL;
}

const char *http_proto_address(const struct http_proto *proto)
{
	return proto->address;
}

void http_proto_shut_down(struct http_proto *proto)
{
	struct http_session *it;
	proto->is_draining = true;
	http_server_drain(proto->server);
	grpc_calls_drain(proto);
	list_for_each(it, &proto->sessions, link)
		kept_session_shut_down(it->kept);
	loop_defer(&proto->sweep);
}

void http_proto_destroy(struct http_proto *proto)
{
	struct http_session *it;
	if (!proto)
		return;
	http_watches_destroy(proto, NULL);
	grpc_calls_destroy(proto);
	http_page_destroy(steal(proto->page));
	list_for_each(it, &proto->sessions, link)
		http_session_destroy(it);
	transport_listener_destroy(proto->listener);
	http_server_destroy(proto->server);
	loop_deferred_finish(&proto->sweep);
	free(proto->address);
	free(proto);
}
