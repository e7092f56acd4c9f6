/* Each request is an easy handle of its own: they are cheap, and no state leaks from one request to the next.
 * Connections, DNS results, TLS sessions and the parsed CA file are shared through the client's multi handle.
 *
 * Debian's libcurl is built with both a CA bundle and a CA directory, and then parses the whole bundle for each
 * connection (40 ms). A directory alone is looked up by hash (3 ms); a bundle alone is cached.
 *
 * A call is paused by refusing data: libcurl then keeps the refused bytes and stops reading in any state of the
 * connection, while curl_easy_pause requires one that is established. All calls are paused for one iteration of the
 * loop when they have received a burst together: libcurl would otherwise read as long as a fast server sends, and the
 * events of a long answer would accumulate before the first one is handled. */
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/stand_in.h"
#include "net/http_client_priv.h"
#include "net/http_head.h"

/* --- the end ----------------------------------------------------------------------------------------------- */

static void call_detach(struct http_call *call)
{
	const struct http_curl *curl = call->client->curl;
	list_remove(&call->link);
	loop_timer_destroy(steal(call->idle));
	if (call->easy) {
		if (call->is_warm_up) /* or libcurl would close the connection with its handle */
			curl->easy_setopt(call->easy, CURLOPT_CONNECT_ONLY, 0L);
		curl->multi_remove_handle(call->client->multi, call->easy);
		curl->easy_cleanup(steal(call->easy));
	}
	if (call->headers)
		curl->slist_free_all(steal(call->headers));
}

void http_call_destroy(struct http_call *call)
{
	call_detach(call);
	buf_finish(&call->head);
	arena_finish(&call->arena);
	free(call);
}

void http_call_end(struct http_call *call, const struct error *err)
{
	struct http_client *client = call->client;
	call_detach(call);
	if (call->is_warm_up && err)
		http_call_fail_waiting(call, err);
	if (call->is_warm_up)
		http_client_proceed_soon(call->client);
	if (!call->is_cancelled)
		call->handler->on_done(err, call->self);
	http_call_destroy(call);
	if (client->last && list_empty(&client->calls))
		loop_defer(&client->leave);
}

/* --- the end, as libcurl reports it --------------------------------------------------------------------------- */

static void call_retry(struct http_call *call)
{
	const struct http_client *client = call->client;
	call->is_retried = true;
	call->is_stale = false;
	call->segment = call->segment_offset = 0;
	call->detail[0] = '\0';
	client->curl->multi_remove_handle(client->multi, call->easy);
	client->curl->easy_setopt(call->easy, CURLOPT_FRESH_CONNECT, 1L);
	client->curl->multi_add_handle(client->multi, call->easy);
}

void http_call_complete(struct http_call *call, CURLcode result)
{
	struct error err = call->failure;
	if (call->tunnel && result == CURLE_OK && !call->is_cancelled) {
		http_tunnel_connected(call->tunnel);
		return;
	}
	if (err.code == ERR_none && result == CURLE_OK) {
		http_call_end(call, NULL);
		return;
	}
	if (!call->is_cancelled && err.code == ERR_none && http_call_is_stale(call, result)) {
		call_retry(call);
		return;
	}
	if (err.code == ERR_none)
		http_call_explain(call, result, &err);
	http_call_end(call, &err);
}

/* --- libcurl's callbacks ----------------------------------------------------------------------------------- */

static void mark_active(struct http_call *call)
{
	call->active_at = uv_now(loop_uv(call->client->loop));
}

/* True if an answer has two different lengths, so that its end is ambiguous. */
static bool has_two_lengths(const struct http_head *head)
{
	struct str first = http_head_get(head, "content-length");
	vec_for_each(header, &head->headers)
		if (str_equal_fold(header->name, STR("content-length")) && !str_eq(header->value, first))
			return true;
	return false;
}

/* Handles a complete head. False ends the call. */
static bool deliver_head(struct http_call *call)
{
	struct http_head head;
	bool is_wanted = true;
	bool is_final = http_head_parse_answer(&head, buf_str(&call->head)) && head.status >= 200;
	if (is_final && has_two_lengths(&head)) {
		error_set(&call->failure, ERR_transport,
		          "the answer of %.*s:%.*s has two Content-Length headers that differ", STR_ARG(call->url.host),
		          STR_ARG(call->url.port));
		is_wanted = false;
	} else if (is_final) {
		call->has_head = true;
		http_call_watch_excess(call);
		if (call->handler->on_head)
			is_wanted = call->handler->on_head(head.status, &head, call->self);
	}
	http_head_finish(&head);
	buf_clear(&call->head); /* discard an interim answer (1xx), which precedes the final one */
	if (!is_wanted && call->failure.code == ERR_none)
		error_set(&call->failure, ERR_cancelled, "the response was rejected by its receiver");
	return is_wanted && !call->is_cancelled;
}

static size_t on_curl_header(char *bytes, size_t size, size_t count, void *self)
{
	struct http_call *call = self;
	size_t len = size * count;
	mark_active(call);
	call->head_total += len;
	if (call->is_cancelled)
		return 0;
	if (call->head_total > LIMIT_HTTP_HEAD) {
		error_set(&call->failure, ERR_limit, "the answer of %.*s:%.*s has more than %d bytes of headers",
		          STR_ARG(call->url.host), STR_ARG(call->url.port), LIMIT_HTTP_HEAD);
		return 0;
	}
	if (call->has_head) /* these headers are trailers */
		return len;
	buf_append(&call->head, bytes, len);
	bool is_last = len <= 2 && (bytes[0] == '\r' || bytes[0] == '\n');
	return is_last && !deliver_head(call) ? 0 : len;
}

static size_t on_curl_data(char *bytes, size_t size, size_t count, void *self)
{
	struct http_call *call = self;
	size_t len = size * count;
	if (call->is_cancelled)
		return 0;
	if (call->is_paused)
		return CURL_WRITEFUNC_PAUSE;
	mark_active(call);
	if (call->client->burst >= LIMIT_HTTP_BURST) {
		call->wants_resume = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	call->client->burst += len;
	http_client_proceed_soon(call->client); /* starts a new burst */
	if (call->handler->on_data && len)
		call->handler->on_data(str_n(bytes, len), call->self);
	return call->is_cancelled ? 0 : len;
}

static size_t on_curl_read(char *out, size_t size, size_t count, void *self)
{
	struct http_call *call = self;
	size_t room = size * count, filled = 0;
	if (call->is_cancelled)
		return CURL_READFUNC_ABORT;
	mark_active(call);
	while (filled < room && call->segment < call->request.body_count) {
		struct str rest = str_skip(call->request.body[call->segment], call->segment_offset);
		size_t part = rest.len < room - filled ? rest.len : room - filled;
		if (part)
			memcpy(out + filled, rest.ptr, part);
		filled += part;
		call->segment_offset += part;
		if (part == rest.len) {
			call->segment++;
			call->segment_offset = 0;
		}
	}
	return filled;
}

/* libcurl rewinds the body to send it again on another connection; it gives up if it cannot. */
static int on_curl_seek(void *self, curl_off_t offset, int origin)
{
	struct http_call *call = self;
	if (call->request.is_once && (call->segment || call->segment_offset))
		return CURL_SEEKFUNC_FAIL;
	if (origin != SEEK_SET || offset != 0)
		return CURL_SEEKFUNC_CANTSEEK;
	call->segment = call->segment_offset = 0;
	return CURL_SEEKFUNC_OK;
}

static void on_idle(void *self)
{
	struct http_call *call = self;
	uint64_t limit = call->request.idle_timeout_ms;
	uint64_t since = uv_now(loop_uv(call->client->loop)) - call->active_at;
	if (call->is_paused || call->is_cancelled || since < limit) {
		loop_timer_start(call->idle, call->is_paused || since >= limit ? limit : limit - since);
		return;
	}
	struct error err;
	error_set(&err, ERR_timeout, "no data from %.*s:%.*s for %g s", STR_ARG(call->url.host),
	          STR_ARG(call->url.port), (double)limit / 1000);
	http_call_end(call, &err);
}

/* --- the start ----------------------------------------------------------------------------------------- */

static int append_curl_header(struct http_call *call, const char *line, struct error *err)
{
	struct curl_slist *list = call->client->curl->slist_append(call->headers, line);
	if (!list)
		return error_set(err, ERR_internal, "out of memory for the headers of a request");
	call->headers = list;
	return 0;
}

/* In libcurl's notation "Name;" is a header with an empty value, and "Name:" removes a header. */
static int build_headers(struct http_call *call, struct error *err)
{
	bool has_type = false;
	for (size_t i = 0; i < call->request.header_count; i++) {
		struct http_header header;
		struct str line = call->request.headers[i];
		if (!http_header_parse(line, &header))
			return error_set(err, ERR_invalid,
			                 "the header \"%.*s\" cannot be sent: it contains a line break or another byte "
			                 "that is not allowed in headers",
			                 STR_ARG(header.name));
		has_type = has_type || str_equal_fold(header.name, STR("content-type"));
		const char *text =
			header.value.len ? line.ptr : arena_printf(&call->arena, "%.*s;", STR_ARG(header.name));
		if (append_curl_header(call, text, err) < 0)
			return -(int)ERR_internal;
	}
	if (!has_type && append_curl_header(call, "Content-Type:", err) < 0)
		return -(int)ERR_internal;
	return append_curl_header(call, "Expect:", err);
}

static size_t body_size(const struct http_request *request)
{
	size_t size = 0;
	for (size_t i = 0; i < request->body_count; i++)
		size += request->body[i].len;
	return size;
}

/* A body that fits into the buffer is sent by one call of the kernel. */
static long send_buffer_size(size_t body)
{
	return body < LIMIT_HTTP_BUFFER        ? LIMIT_HTTP_BUFFER
	       : body < LIMIT_HTTP_SEND_BUFFER ? (long)body
	                                       : LIMIT_HTTP_SEND_BUFFER;
}

static void set_method(struct http_call *call)
{
	const struct http_curl *curl = call->client->curl;
	const struct http_request *request = &call->request;
	curl_off_t size = (curl_off_t)body_size(request);
	if (request->body_count || strcmp(request->method, "POST") == 0) {
		curl->easy_setopt(call->easy, CURLOPT_POST, 1L);
		curl->easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE_LARGE, size);
	} else if (strcmp(request->method, "HEAD") == 0) {
		curl->easy_setopt(call->easy, CURLOPT_NOBODY, 1L);
	}
	curl->easy_setopt(call->easy, CURLOPT_CUSTOMREQUEST, request->method);
}

/* The passphrase is set because the TLS library would ask for one at the terminal, and block. */
static void set_client_certificate(struct http_call *call)
{
	const struct http_curl *curl = call->client->curl;
	if (!call->request.client_certificate)
		return;
	curl->easy_setopt(call->easy, CURLOPT_SSLCERT, call->request.client_certificate);
	curl->easy_setopt(call->easy, CURLOPT_SSLKEY,
	                  call->request.client_key ? call->request.client_key : call->request.client_certificate);
	curl->easy_setopt(call->easy, CURLOPT_KEYPASSWD, "");
}

static void set_tls(struct http_call *call)
{
	const struct http_curl *curl = call->client->curl;
	const char *ca_file = call->client->ca_file;
	stand_in_start_tls(); /* the connection reports if it could not */
	curl->easy_setopt(call->easy, CURLOPT_SHARE, call->client->share);
	if (ca_file || file_exists(HTTP_SYSTEM_CA_FILE)) {
		curl->easy_setopt(call->easy, CURLOPT_CAINFO, ca_file);
		curl->easy_setopt(call->easy, CURLOPT_CAPATH, ca_file ? NULL : HTTP_SYSTEM_CA_DIR);
	}
	set_client_certificate(call);
}

static void set_callbacks(struct http_call *call)
{
	const struct http_curl *curl = call->client->curl;
	curl->easy_setopt(call->easy, CURLOPT_PRIVATE, (void *)call);
	curl->easy_setopt(call->easy, CURLOPT_HEADERFUNCTION, on_curl_header);
	curl->easy_setopt(call->easy, CURLOPT_HEADERDATA, (void *)call);
	curl->easy_setopt(call->easy, CURLOPT_WRITEFUNCTION, on_curl_data);
	curl->easy_setopt(call->easy, CURLOPT_WRITEDATA, (void *)call);
	curl->easy_setopt(call->easy, CURLOPT_READFUNCTION, on_curl_read);
	curl->easy_setopt(call->easy, CURLOPT_READDATA, (void *)call);
	curl->easy_setopt(call->easy, CURLOPT_SEEKFUNCTION, on_curl_seek);
	curl->easy_setopt(call->easy, CURLOPT_SEEKDATA, (void *)call);
	curl->easy_setopt(call->easy, CURLOPT_ERRORBUFFER, call->detail);
}

static void set_options(struct http_call *call)
{
	const struct http_curl *curl = call->client->curl;
	curl->easy_setopt(call->easy, CURLOPT_URL, call->request.url);
	curl->easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
	curl->easy_setopt(call->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	curl->easy_setopt(call->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl->easy_setopt(call->easy, CURLOPT_NOSIGNAL, 1L);
	curl->easy_setopt(call->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl->easy_setopt(call->easy, CURLOPT_BUFFERSIZE, (long)LIMIT_HTTP_BUFFER);
	curl->easy_setopt(call->easy, CURLOPT_UPLOAD_BUFFERSIZE, send_buffer_size(body_size(&call->request)));
	curl->easy_setopt(call->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)call->request.connect_timeout_ms);
}

/* A tunnel needs a connection of its own, also through a proxy for http://, and no HTTP/2 on it. */
static void set_connect_only(struct http_call *call)
{
	const struct http_curl *curl = call->client->curl;
	curl->easy_setopt(call->easy, CURLOPT_CONNECT_ONLY, 1L);
	curl->easy_setopt(call->easy, CURLOPT_FRESH_CONNECT, 1L);
	curl->easy_setopt(call->easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
	curl->easy_setopt(call->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
}

static int call_setup(struct http_call *call, struct error *err)
{
	if (!http_url_parse(str_of(call->request.url), &call->url))
		return error_set(err, ERR_invalid, "expected a URL with http:// or https:// and a host");
	int status = build_headers(call, err);
	if (status < 0)
		return status;
	call->easy = call->client->curl->easy_init();
	if (!call->easy)
		return error_set(err, ERR_internal, "libcurl cannot make a handle");
	set_options(call);
	set_method(call);
	if (call->url.is_https)
		set_tls(call);
	set_callbacks(call);
	http_call_set_connection(call);
	if (call->tunnel)
		set_connect_only(call);
	call->client->curl->multi_add_handle(call->client->multi, call->easy);
	return 0;
}

void http_call_begin(struct http_call *call)
{
	struct error err;
	if (call_setup(call, &err) < 0) {
		http_call_end(call, &err);
		return;
	}
	mark_active(call);
	if (!call->request.idle_timeout_ms)
		return;
	call->idle = loop_timer_create(call->client->loop, on_idle, call);
	loop_timer_start(call->idle, call->request.idle_timeout_ms);
}

static struct str *copy_slices(struct arena *arena, const struct str *slices, size_t count, bool is_deep)
{
	struct str *copy = arena_array(arena, struct str, count ? count : 1);
	for (size_t i = 0; i < count; i++)
		copy[i] = is_deep ? arena_str(arena, slices[i]) : slices[i];
	return copy;
}

static struct http_call *call_create(struct http_client *client, const struct http_request *request,
                                     const struct http_handler *handler, void *self)
{
	struct http_call *call = xnew(struct http_call);
	call->client = client;
	call->handler = handler;
	call->self = self;
	buf_init(&call->head, LIMIT_HTTP_HEAD);
	call->request = *request;
	call->request.method = arena_cstr(&call->arena, str_of(request->method));
	call->request.url = arena_cstr(&call->arena, str_of(request->url));
	call->request.headers = copy_slices(&call->arena, request->headers, request->header_count, true);
	if (request->client_certificate)
		call->request.client_certificate = arena_cstr(&call->arena, str_of(request->client_certificate));
	if (request->client_key)
		call->request.client_key = arena_cstr(&call->arena, str_of(request->client_key));
	call->request.body = copy_slices(&call->arena, request->body, request->body_count, false);
	list_append(&client->calls, &call->link);
	http_client_preload(client);
	http_client_proceed_soon(client);
	return call;
}

struct http_call *http_call_start(struct http_client *client, const struct http_request *request,
                                  const struct http_handler *handler, void *self)
{
	return call_create(client, request, handler, self);
}

static void on_connected(const struct error *err, void *self)
{
	(void)err, (void)self;
}

void http_client_preconnect(struct http_client *client, const struct http_request *request)
{
	static const struct http_handler handler = {.on_done = on_connected};
	if (http_client_is_warming_up(client, request->url))
		return;
	struct http_request connection = {
		.method = "GET",
		.url = request->url,
		.client_certificate = request->client_certificate,
		.client_key = request->client_key,
		.connect_timeout_ms = request->connect_timeout_ms,
	};
	call_create(client, &connection, &handler, NULL)->is_warm_up = true;
}

void http_call_cancel(struct http_call *call)
{
	if (!call || call->is_cancelled)
		return;
	call->is_cancelled = true;
	http_client_proceed_soon(call->client);
}

void http_call_pause(struct http_call *call)
{
	call->is_paused = true;
}

void http_call_resume(struct http_call *call)
{
	if (!call->is_paused)
		return;
	call->is_paused = false;
	call->wants_resume = true;
	mark_active(call);
	http_client_proceed_soon(call->client);
}

void http_call_continue(struct http_call *call)
{
	list_remove(&call->link); /* move to the end of the list, so that calls take turns */
	list_append(&call->client->calls, &call->link);
	call->wants_resume = false;
	call->client->curl->easy_pause(call->easy, CURLPAUSE_CONT);
}
