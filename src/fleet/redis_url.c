/* Messages never quote the text, because it may hold a password. */
#include "fleet/redis_url.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static int refuse(struct error *err, const char *what)
{
	return error_set(err, ERR_usage,
	                 "the address of Redis has %s; expected redis://[user[:password]@]host[:port][/db], "
	                 "rediss://… or unix:///path",
	                 what);
}

/* Decodes %XX in place of a copy; NULL if it is not valid, or has a NUL. */
static char *decode(struct str text)
{
	char *out = xmalloc(text.len + 1);
	size_t len = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] != '%') {
			out[len++] = text.ptr[i];
			continue;
		}
		int high = i + 2 < text.len ? str_hex_digit(text.ptr[i + 1]) : -1;
		int low = i + 2 < text.len ? str_hex_digit(text.ptr[i + 2]) : -1;
		if (high < 0 || low < 0 || (high == 0 && low == 0)) {
			free(out);
			return NULL;
		}
		out[len++] = (char)(high * 16 + low);
		i += 2;
	}
	out[len] = '\0';
	return out;
}

static int read_login(struct redis_url *url, struct str text, struct error *err)
{
	ptrdiff_t colon = str_find_char(text, ':');
	struct str user = colon < 0 ? text : str_n(text.ptr, (size_t)colon);
	if (user.len && !(url->user = decode(user)))
		return refuse(err, "an invalid user");
	if (colon >= 0 && !(url->password = decode(str_skip(text, (size_t)colon + 1))))
		return refuse(err, "an invalid password");
	return 0;
}

static int read_host(struct redis_url *url, struct str text, struct error *err)
{
	ptrdiff_t slash = str_find_char(text, '/');
	struct str db = slash < 0 ? STR("") : str_skip(text, (size_t)slash + 1);
	struct str host = slash < 0 ? text : str_n(text.ptr, (size_t)slash);
	struct str port = STR("6379");
	ptrdiff_t colon = str_rfind_char(host, ':');
	uint64_t number;
	if (colon >= 0 && host.ptr[host.len - 1] != ']') {
		port = str_skip(host, (size_t)colon + 1);
		host = str_n(host.ptr, (size_t)colon);
	}
	if (host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
		host = str_n(host.ptr + 1, host.len - 2);
	if (!host.len || str_has_nul(host))
		return refuse(err, "no host");
	if (!str_to_u64(port, &number) || number == 0 || number > 65535)
		return refuse(err, "an invalid port");
	if (db.len && !str_to_u64(db, &url->db))
		return refuse(err, "an invalid database");
	url->host = str_dup(host);
	url->port = str_dup(port);
	url->shown = xasprintf("%s://%s:%s/%llu", url->has_tls ? "rediss" : "redis", url->host, url->port,
	                       (unsigned long long)url->db);
	return 0;
}

static int read_url(const char *text, struct redis_url *url, struct error *err)
{
	struct str rest = str_of(text);
	if (str_cut_prefix(&rest, "unix://")) {
		if (!rest.len || rest.ptr[0] != '/')
			return refuse(err, "no absolute path");
		url->path = str_dup(rest);
		url->shown = xasprintf("unix://%s", url->path);
		return 0;
	}
	url->has_tls = str_has_prefix(rest, "rediss://");
	if (!str_cut_prefix(&rest, url->has_tls ? "rediss://" : "redis://"))
		return refuse(err, "an unknown scheme");
	ptrdiff_t at = str_rfind_char(rest, '@');
	if (at >= 0 && read_login(url, str_n(rest.ptr, (size_t)at), err) != 0)
		return -ERR_usage;
	return read_host(url, at < 0 ? rest : str_skip(rest, (size_t)at + 1), err);
}

int redis_url_read(const char *text, struct redis_url *ret, struct error *err)
{
	*ret = (struct redis_url){0};
	int status = read_url(text, ret, err);
	if (status != 0)
		redis_url_finish(ret);
	return status;
}

void redis_url_finish(struct redis_url *url)
{
	if (url->password)
		explicit_bzero(url->password, strlen(url->password));
	free(url->path);
	free(url->host);
	free(url->port);
	free(url->user);
	free(url->password);
	free(url->shown);
	*url = (struct redis_url){0};
}
