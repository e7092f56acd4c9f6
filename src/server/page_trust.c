/* A host is compared before anything else is read: a page that has rebound its own name to this machine is of the same
 * origin as this server for its browser, and only the name shows the difference. */
#include "server/page_trust.h"

#include "net/http_head.h"

/* The part of an authority after its last colon, unless that is inside the brackets of an address. */
static struct str cut_port(struct str *authority)
{
	ptrdiff_t colon = str_rfind_char(*authority, ':');
	struct str port = STR("");
	if (colon < 0 || str_find_char(str_skip(*authority, (size_t)colon), ']') >= 0)
		return port;
	port = str_skip(*authority, (size_t)colon + 1);
	authority->len = (size_t)colon;
	return port;
}

/* This machine under its own names, with the port of the server. */
static bool is_own(const struct page_trust *trust, struct str host)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
	struct str own = trust->address, own_port = cut_port(&own), port = cut_port(&host);
	if (!str_eq(port.len ? port : trust->is_tls ? STR("443") : STR("80"), own_port))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (str_equal_fold(host, str_of(names[i])))
			return true;
	return str_equal_fold(host, own);
}

static bool is_named(const struct page_trust *trust, struct str host)
{
	struct str bare = host;
	cut_port(&bare);
	for (size_t i = 0; i < trust->name_count; i++) {
		struct str name = str_of(trust->names[i]), name_host = name;
		bool has_port = cut_port(&name_host).len;
		if (str_equal_fold(has_port ? host : bare, name))
			return true;
	}
	return false;
}

/* Browsers send the origin of the page that causes a request. It must be this page, in the words of the request. */
static bool is_origin(struct str origin, struct str host, bool accepts_http, bool accepts_https)
{
	bool is_http = str_cut_prefix(&origin, "http://"), is_https = !is_http && str_cut_prefix(&origin, "https://");
	return ((is_http && accepts_http) || (is_https && accepts_https)) && str_eq(origin, host);
}

static bool is_link_to_page(const struct http_head *head)
{
	struct str target = head->target, path;
	str_next_part(&target, '?', &path);
	return str_is(head->method, "GET") && str_is(path, "/") &&
	       str_is(http_head_get(head, "sec-fetch-mode"), "navigate") &&
	       str_is(http_head_get(head, "sec-fetch-dest"), "document");
}

int page_trust_check(const struct page_trust *trust, const struct http_head *head, const char **ret_reason)
{
	struct str host = http_head_get(head, "host"), origin = http_head_get(head, "origin");
	struct str site = http_head_get(head, "sec-fetch-site");
	bool is_own_host = is_own(trust, host), is_allowed = is_named(trust, host);
	if (!is_own_host && !is_allowed) {
		*ret_reason = "the Host header does not name this server; --allow-host NAME allows another name";
		return 421;
	}
	if (http_head_count(head, "origin") > 1 ||
	    (origin.ptr && !is_origin(origin, host, is_allowed || !trust->is_tls, is_allowed || trust->is_tls))) {
		*ret_reason = "the request comes from a page of another origin";
		return 403;
	}
	if (site.ptr && !str_is(site, "same-origin") && !str_is(site, "none") && !is_link_to_page(head)) {
		*ret_reason = "the request comes from a page of another site";
		return 403;
	}
	if (http_head_get(head, "upgrade").ptr) {
		*ret_reason = "the server does not change protocols";
		return 400;
	}
	return 0;
}
