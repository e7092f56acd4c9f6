/* libcurl does the real parsing; this one only finds the parts that messages name, and leaves out the parts that
 * hold secrets: the user information, and the query where some providers expect their key. */
#include "net/http_url.h"

#include "base/buf.h"

static struct str cut_at_any(struct str s, const char *stops, struct str *ret_rest)
{
	size_t len = 0;
	while (len < s.len && !strchr(stops, s.ptr[len]))
		len++;
	*ret_rest = str_skip(s, len);
	return str_n(s.ptr, len);
}

static bool is_printable(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] <= 0x20 || s.ptr[i] == 0x7f)
			return false;
	return true;
}

static void split_authority(struct str authority, struct http_url *url)
{
	ptrdiff_t at = str_rfind_char(authority, '@');
	struct str host = str_skip(authority, (size_t)(at + 1));
	ptrdiff_t colon = str_rfind_char(host, ':');
	if (colon < str_rfind_char(host, ']'))
		colon = -1;
	url->host = colon < 0 ? host : str_n(host.ptr, (size_t)colon);
	url->port = colon < 0 ? STR_NONE : str_skip(host, (size_t)colon + 1);
	if (url->port.len == 0)
		url->port = url->is_https ? STR("443") : STR("80");
}

bool http_url_parse(struct str text, struct http_url *ret_url)
{
	struct http_url url = {0};
	ptrdiff_t end = str_find(text, STR("://"));
	if (end < 0 || !is_printable(text))
		return false;
	url.scheme = str_n(text.ptr, (size_t)end);
	url.is_https = str_equal_fold(url.scheme, STR("https"));
	if (!url.is_https && !str_equal_fold(url.scheme, STR("http")))
		return false;
	struct str rest;
	split_authority(cut_at_any(str_skip(text, (size_t)end + 3), "/?#", &rest), &url);
	url.path = cut_at_any(rest, "?#", &rest);
	*ret_url = url;
	return url.host.len > 0;
}

void http_url_append_public(struct buf *out, struct str text)
{
	struct http_url url;
	if (!http_url_parse(text, &url)) {
		buf_append_c(out, "(not an http URL)");
		return;
	}
	buf_append_str(out, url.scheme);
	buf_append_c(out, "://");
	buf_append_str(out, url.host);
	if (!str_is(url.port, url.is_https ? "443" : "80")) {
		buf_append_char(out, ':');
		buf_append_str(out, url.port);
	}
	buf_append_str(out, url.path);
}
