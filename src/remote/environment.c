/* The shell is reported by the server, so it is only taken over if it is one of those whose scripts are classified for
 * approval (command/shell.h); otherwise commands run in /bin/sh. */
#include "remote/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "command/shell.h"
#include "net/http_url.h"

struct environment *environment_ref(struct environment *environment)
{
	environment->refs++;
	return environment;
}

void environment_unref(struct environment *environment)
{
	if (--environment->refs > 0)
		return;
	for (size_t i = 0; i < environment->header_count; i++)
		str_free(&environment->headers[i]);
	str_free(&environment->id);
	str_free(&environment->name);
	free(environment->url);
	free(environment);
}

/* ---- registration ---- */

static bool is_header_text(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
			return false;
	return true;
}

/* Writes the URL as the HTTP client expects it. False unless it begins with ws:// or wss://. */
static bool write_url(struct buf *out, struct str url)
{
	bool is_secure = str_has_prefix(url, "wss://");
	struct http_url parts;
	if (!is_secure && !str_has_prefix(url, "ws://"))
		return false;
	buf_append_c(out, is_secure ? "https://" : "http://");
	buf_append_str(out, str_skip(url, is_secure ? 6 : 5));
	return !memchr(out->data, '\0', out->len) && http_url_parse(buf_str(out), &parts);
}

/* True if what is sent stays private: TLS, or this machine. */
static bool keeps_secrets(struct str url)
{
	static const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
	struct http_url parts;
	return http_url_parse(url, &parts) && (parts.is_https || http_host_is_allowed(parts.host, &nowhere, NULL, 0));
}

static int check_words(const struct environment_words *words, struct error *err)
{
	const struct str texts[] = {words->id, words->url, words->token, words->request_id};
	for (size_t i = 0; i < countof(texts); i++)
		if (texts[i].len > LIMIT_ENVIRONMENT_TEXT)
			return error_set(err, ERR_limit, "a text of an environment has more than %d bytes",
			                 LIMIT_ENVIRONMENT_TEXT);
	if (!words->id.len)
		return error_set(err, ERR_invalid, "environment id cannot be empty");
	if (str_is(words->id, ENVIRONMENT_LOCAL))
		return error_set(err, ERR_invalid, "environment id `" ENVIRONMENT_LOCAL "` is reserved");
	if (!is_header_text(words->token))
		return error_set(err, ERR_invalid, "authBearerToken contains a control character");
	if (!is_header_text(words->request_id))
		return error_set(err, ERR_invalid, "websocketRequestId contains a control character");
	return 0;
}

static void add_header(struct environment *environment, const char *name, struct str value)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_ENVIRONMENT_TEXT + 64);
	if (!value.len)
		return;
	buf_append_c(&text, name);
	buf_append_str(&text, value);
	environment->headers[environment->header_count++] = str_copy(buf_str(&text));
}

static struct str public_name(struct str url)
{
	auto_buf struct buf http, name;
	buf_init(&http, LIMIT_ENVIRONMENT_TEXT + 16);
	buf_init(&name, LIMIT_ENVIRONMENT_TEXT + 16);
	http_url_append_public(&http, url);
	buf_append_c(&name, "ws");
	buf_append_str(&name, str_skip(buf_str(&http), strlen("http")));
	return str_copy(buf_str(&name));
}

struct environment *environment_create(struct loop *loop, struct http_client *http,
                                       const struct environment_words *words, struct error *err)
{
	auto_buf struct buf url;
	buf_init(&url, LIMIT_ENVIRONMENT_TEXT + 16);
	if (check_words(words, err) != 0)
		return NULL;
	if (!write_url(&url, words->url)) {
		error_set(err, ERR_invalid, "execServerUrl is not ws:// or wss:// with a host");
		return NULL;
	}
	if (words->token.len && !keeps_secrets(buf_str(&url))) {
		error_set(err, ERR_invalid, "authBearerToken needs wss://, or a loopback address");
		return NULL;
	}
	struct environment *environment = xnew(struct environment);
	environment->loop = loop;
	environment->http = http;
	environment->refs = 1;
	environment->id = str_copy(words->id);
	environment->url = str_dup(buf_str(&url));
	environment->name = public_name(buf_str(&url));
	add_header(environment, "Authorization: Bearer ", words->token);
	add_header(environment, "X-Request-Id: ", words->request_id);
	environment->connect_timeout_ms = words->connect_timeout_ms;
	environment_set_shell(environment, STR("/bin/sh"));
	return environment;
}

struct environment *environment_create_absent(struct loop *loop, struct str id)
{
	struct environment *environment = xnew(struct environment);
	environment->loop = loop;
	environment->refs = 1;
	environment->id = str_copy(id);
	environment_set_shell(environment, STR("/bin/sh"));
	return environment;
}

/* ---- what the server reports ---- */

void environment_set_shell(struct environment *environment, struct str path)
{
	char name[sizeof(environment->shell)];
	if (path.len >= sizeof(name) || !str_has_prefix(path, "/") || !is_header_text(path))
		return;
	snprintf(name, sizeof(name), "%.*s", STR_ARG(path));
	if (shell_is_known(name))
		memcpy(environment->shell, name, sizeof(name));
}

/* ---- its connections ---- */

static void notify(const struct environment *environment, bool is_connected)
{
	const struct environment_watcher *watcher = environment->watcher;
	if (watcher && watcher->on_change)
		watcher->on_change(environment, is_connected, watcher->self);
}

void environment_reach(struct environment *environment, bool is_again)
{
	bool is_last = is_again && --environment->resuming == 0;
	if (!is_last && !environment->is_gone)
		return;
	environment->is_gone = false;
	notify(environment, true);
}

void environment_lose(struct environment *environment)
{
	environment->resuming--;
	if (environment->is_gone)
		return;
	environment->is_gone = true;
	notify(environment, false);
}
