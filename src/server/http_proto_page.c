/* The page of codex serve: its files, who may send requests, sign-in and sign-out. A wrong token is counted when its
 * request is answered, not when its head is looked at, which happens twice. The files are kept compressed, as browsers
 * accept them; for other clients they are unpacked. */
#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http_head.h"
#include "net/http_server.h"
#include "server/http_proto_priv.h"
#include "server/page_access.h"
#include "server/page_qr.h"
#include "server/page_text.h"
#include "server/server_limits.h"

/* Nothing is loaded from elsewhere, no script runs but the page's own file, and no other page may show or open it. */
static const struct str policy_headers[] = {
	STR("content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
            "data:; connect-src 'self'; manifest-src 'self'; worker-src 'none'; form-action 'none'; base-uri "
            "'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"),
	STR("referrer-policy: no-referrer"),
	STR("x-content-type-options: nosniff"),
	STR("x-frame-options: DENY"),
	STR("cross-origin-opener-policy: same-origin"),
	STR("cross-origin-resource-policy: same-origin"),
	STR("permissions-policy: camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
	STR("cache-control: no-store"),
};

struct http_page *http_page_create(struct http_proto *proto, const struct http_page_options *options)
{
	struct http_page *page = xnew(struct http_page);
	page->proto = proto;
	page->options = *options;
	page->gather = loop_timer_create(proto->options.loop, http_page_send_lists, page);
	list_init(&page->watches);
	list_init(&page->jobs);
	return page;
}

void http_page_destroy(struct http_page *page)
{
	if (!page)
		return;
	http_page_end_watches(page, NULL);
	http_page_detach_jobs(page);
	loop_timer_destroy(page->gather);
	free(page);
}

void http_page_prepare(struct http_proto *proto)
{
	struct http_page *page = proto->page;
	struct str address = str_of(proto->address);
	bool is_tls = str_cut_prefix(&address, "https://");
	str_cut_prefix(&address, "http://");
	page->trust = (struct page_trust){is_tls, address, page->options.names, page->options.name_count};
	http_server_add_headers(proto->server, policy_headers, countof(policy_headers));
}

void http_page_changed(struct http_page *page)
{
	if (page && !list_empty(&page->watches) && !loop_timer_is_active(page->gather))
		loop_timer_start(page->gather, LIMIT_PAGE_GATHER_MS);
}

/* ---- the files ---- */

static struct {
	int (*uncompress)(unsigned char *to, unsigned long *to_len, const unsigned char *from, unsigned long from_len);
} zlib;

static const char *const names[] = {"uncompress"};

LIBRARY(libz, zlib, names, LIBRARY_ROW(zlib), .purpose = "zlib, which unpacks the page");

static const struct page_file {
	const char *path, *type;
	const struct str *packed;
	size_t size;
} files[] = {
	{"/", "text/html; charset=utf-8", &page_index_html, page_index_html_size},
	{"/app.js", "text/javascript; charset=utf-8", &page_app_js, page_app_js_size},
	{"/app.css", "text/css; charset=utf-8", &page_app_css, page_app_css_size},
	{"/icon.svg", "image/svg+xml", &page_icon_svg, page_icon_svg_size},
	{"/manifest.webmanifest", "application/manifest+json", &page_manifest_webmanifest,
         page_manifest_webmanifest_size},
};

/* The format of zlib is what HTTP calls deflate. */
static bool accepts_packed(const struct http_head *head)
{
	return http_head_has_token(head, "accept-encoding", "deflate");
}

static void reply(struct http_request *request, const struct page_file *file, struct str bytes, bool is_packed)
{
	char type[64];
	snprintf(type, sizeof(type), "content-type: %s", file->type);
	const struct str headers[] = {str_of(type), STR("vary: accept-encoding"), STR("content-encoding: deflate")};
	http_reply_head(request->exchange, 200, headers, countof(headers) - !is_packed, (int64_t)bytes.len);
	http_reply_data(request->exchange, bytes);
	http_reply_end(request->exchange);
}

static void send_plain(struct http_request *request, const struct page_file *file)
{
	struct error err;
	auto_free unsigned char *plain = xmalloc(file->size);
	unsigned long len = file->size;
	if (library_load(&libz, &err) != 0)
		http_request_refuse(request, 500, err.text);
	else if (zlib.uncompress(plain, &len, (const unsigned char *)file->packed->ptr, file->packed->len) != 0)
		http_request_refuse(request, 500, "zlib could not unpack the page");
	else
		reply(request, file, str_n((const char *)plain, len), false);
}

void on_route_page_file(struct http_request *request)
{
	for (size_t i = 0; i < countof(files); i++) {
		if (!str_is(request->path, files[i].path))
			continue;
		if (accepts_packed(request->head))
			reply(request, &files[i], *files[i].packed, true);
		else
			send_plain(request, &files[i]);
		return;
	}
}

/* ---- checks ---- */

static bool is_type_served(struct str shown)
{
	struct str type;
	str_next_part(&shown, ';', &type);
	type = str_trim(type);
	return str_equal_fold(type, STR("application/json")) || str_equal_fold(type, STR("application/x-ndjson"));
}

static const char type_reason[] = "send `content-type: application/json` or application/x-ndjson";

/* The length of a body must be known before the body of an unknown client is read. */
static bool is_small(const struct http_head *head)
{
	uint64_t len;
	struct str shown = http_head_get(head, "content-length");
	return str_is(head->method, "GET") || str_is(head->method, "HEAD") ||
	       (shown.ptr && str_to_u64(shown, &len) && len <= LIMIT_PAGE_LOGIN);
}

static void check_token(struct http_page *page, const struct http_head *head, struct http_verdict *ret)
{
	struct str token = http_bearer(head);
	ret->device = token.len ? page_access_find(page->options.access, token) : NULL;
	if (ret->device)
		return;
	ret->status = 401;
	ret->reason = "sign in first: the request lacks `authorization: Bearer TOKEN` with the token of a device";
	ret->has_wrong_token = token.len;
}

void http_page_check(struct http_page *page, const struct http_head *head, bool has_route, bool needs_token,
                     struct http_verdict *ret)
{
	struct str type = http_head_get(head, "content-type");
	bool is_api = str_has_prefix(head->target, "/v1/");
	ret->status = page_trust_check(&page->trust, head, &ret->reason);
	if (ret->status)
		return;
	if (is_api && (needs_token || !has_route))
		check_token(page, head, ret);
	else if (has_route && !is_small(head))
		*ret = (struct http_verdict){.status = 413,
		                             .reason = "the body is longer than 4 KiB, or of unknown length"};
	if (!ret->status && type.ptr && !str_is(head->method, "GET") && !is_type_served(type))
		*ret = (struct http_verdict){.status = 415, .reason = type_reason};
}

bool http_page_refuse_type(struct http_request *request)
{
	bool has_body = request->body.len || str_is(request->path, "/v1/stream");
	if (!has_body || http_head_get(request->head, "content-type").ptr)
		return false;
	http_request_refuse(request, 415, type_reason);
	return true;
}

/* ---- the log ---- */

static void log_line(struct http_page *page, const char *what, struct str detail, const struct http_request *request)
{
	auto_buf struct buf line, shown;
	buf_init(&line, 4 * KIB);
	buf_init(&shown, 2 * KIB);
	text_append_line(&shown, str_n(detail.ptr, detail.len < LIMIT_PAGE_NAME ? detail.len : LIMIT_PAGE_NAME));
	buf_printf(&line, "%s", what);
	if (shown.len)
		buf_printf(&line, " %.*s", STR_ARG(buf_str(&shown)));
	buf_printf(&line, " from %s", http_exchange_peer(request->exchange));
	page->options.on_log(line.data, page->options.self);
}

/* At most one line a second, so that requests cannot flood the log. */
static void log_refusal(const struct http_request *request, const char *what, struct str detail)
{
	struct http_page *page = request->proto->page;
	uint64_t now_ms = clock_now_ms();
	if (page->logged_ms && now_ms - page->logged_ms < 1000)
		return;
	page->logged_ms = now_ms;
	log_line(page, what, detail, request);
}

/* ---- refusals ---- */

/* Answers that a request is to be signed in with a right token or code, or must wait. */
static void refuse_wrong(struct http_request *request, const char *what)
{
	char header[48], line[64];
	unsigned wait_s = page_access_fail(request->proto->page->options.access);
	snprintf(line, sizeof(line), "refused: a wrong %s", what);
	log_refusal(request, line, STR_NONE);
	snprintf(header, sizeof(header), "retry-after: %u", wait_s);
	if (wait_s)
		http_refuse_with_header(request, 429, "too many wrong codes and tokens; wait a minute", str_of(header));
	else
		http_refuse_with_header(request, 401, "the code or token is wrong, was used, or is too old",
		                        STR("www-authenticate: Bearer"));
}

void http_page_refuse(struct http_request *request, const struct http_verdict *verdict)
{
	const struct http_head *head = request->head;
	if (verdict->has_wrong_token) {
		refuse_wrong(request, "token");
		return;
	}
	if (verdict->status == 421)
		log_refusal(request, "refused: a request for the host", http_head_get(head, "host"));
	else if (verdict->status == 403)
		log_refusal(request, "refused: a request of a page of", http_head_get(head, "origin"));
	http_refuse_with_header(request, verdict->status, verdict->reason,
	                        verdict->status == 401 ? STR("www-authenticate: Bearer") : STR_NONE);
}

/* ---- sign-in ---- */

static void sign_out(struct http_page *page, struct page_device *device)
{
	http_watches_destroy(page->proto, device);
	http_page_end_watches(page, device);
	grpc_calls_cancel(page->proto, device);
	page_access_sign_out(page->options.access, device);
}

static void answer_done(struct http_request *request)
{
	http_reply_head(request->exchange, 204, NULL, 0, HTTP_HEAD_ONLY);
	http_reply_end(request->exchange);
}

static void answer_signed_in(struct http_request *request, const char *token, struct page_device *device)
{
	char json[192];
	struct http_page *page = request->proto->page;
	snprintf(json, sizeof(json), "{\"token\":\"%s\",\"device\":\"%s\"}", token, page_device_id(device));
	log_line(page, "signed in:", str_of(page_device_name(device)), request);
	http_request_answer(request, 200, str_of(json), NULL, 0);
}

void on_route_page_login(struct http_request *request)
{
	auto_arena struct arena arena = {0};
	char token[PAGE_TOKEN_SIZE];
	struct page_device *evicted = NULL;
	struct http_page *page = request->proto->page;
	const struct json *body = json_parse(&arena, request->body, NULL);
	struct str code = json_get_str(body, "code"), name = json_get_str(body, "name");
	if (!code.ptr) {
		http_request_refuse(request, 400, "the body must be {\"code\":…,\"name\":…}");
		return;
	}
	struct page_device *device = page_access_sign_in(page->options.access, str_trim(code), name, token, &evicted);
	if (evicted)
		sign_out(page, evicted);
	if (device)
		answer_signed_in(request, token, device);
	else
		refuse_wrong(request, "code");
}

void on_route_page_logout(struct http_request *request)
{
	sign_out(request->proto->page, request->device);
	answer_done(request);
}

void on_route_page_sign_out(struct http_request *request)
{
	struct page_device *device = page_access_find_id(request->proto->page->options.access, request->id);
	if (!device) {
		http_request_refuse(request, 404, "there is no device with this id");
		return;
	}
	sign_out(request->proto->page, device);
	answer_done(request);
}

void on_route_page_devices(struct http_request *request)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_PAGE_LIST);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_key(&w, "devices");
	page_access_write(request->proto->page->options.access, request->device, &w);
	jw_object_end(&w);
	http_request_answer(request, 200, buf_str(&out), NULL, 0);
}

/* ---- links ---- */

static void make_link(struct http_proto *proto, struct buf *out, char code[PAGE_CODE_SIZE])
{
	const struct http_page_options *options = &proto->page->options;
	page_access_make_code(options->access, code);
	buf_printf(out, "%s/#code=%s", options->base ? options->base : proto->address, code);
}

void http_proto_make_link(struct http_proto *proto, struct buf *out)
{
	char code[PAGE_CODE_SIZE];
	make_link(proto, out, code);
}

static void write_qr(struct json_writer *w, const char *text)
{
	struct page_qr qr;
	if (!page_qr_make(text, &qr)) {
		jw_null(w);
		return;
	}
	page_qr_write(&qr, w);
	page_qr_finish(&qr);
}

void on_route_page_pair(struct http_request *request)
{
	auto_buf struct buf out, link;
	char code[PAGE_CODE_SIZE];
	buf_init(&out, LIMIT_PAGE_FILE);
	buf_init(&link, 8 * KIB);
	make_link(request->proto, &link, code);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_cstr(&w, "code", code);
	jw_member_str(&w, "url", buf_str(&link));
	jw_member_i64(&w, "expires_in", LIMIT_PAGE_CODE_MS / 1000);
	jw_key(&w, "qr");
	write_qr(&w, link.data);
	jw_object_end(&w);
	http_request_answer(request, 200, buf_str(&out), NULL, 0);
}
