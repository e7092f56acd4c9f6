/* Addresses are parsed before anything is loaded, so that an error is reported at once and, like all errors of the
 * command line, with status 2. */
#include "ui/serve/app_server_options.h"

#include <stddef.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "transport/transport_listen.h"

#define ROW(field, text, letter_, kind_, value_, choices_, doc_)                                                 \
	{                                                                                                        \
		.name = text, .letter = letter_, .kind = kind_,                                                  \
		.offset = offsetof(struct app_server_options_read, field), .value = value_, .choices = choices_, \
		.doc = doc_                                                                                      \
	}

const struct cli_option app_server_option_rows[APP_SERVER_OPTION_COUNT] = {
	ROW(overrides, "config", 'c', CLI_LIST, "key=value", NULL, "Set a configuration value (TOML); repeatable"),
	ROW(strict, "strict-config", 0, CLI_FLAG, NULL, NULL, "Fail if the configuration has an unknown key"),
	ROW(listen, "listen", 0, CLI_TEXT, "URL", NULL,
            "Address to listen on: stdio:// (default), unix://, unix://PATH, ws://IP:PORT, fd:// (from systemd), off"),
	ROW(stdio, "stdio", 0, CLI_FLAG, NULL, NULL, "The same as --listen stdio://"),
	ROW(bearer.mode, "ws-auth", 0, CLI_TEXT, "MODE", "capability-token|signed-bearer-token",
            "Authentication of WebSocket clients; required if other machines can reach the port"),
	ROW(bearer.token_file, "ws-token-file", 0, CLI_TEXT, "FILE", NULL, "File with the capability token"),
	ROW(bearer.token_sha256, "ws-token-sha256", 0, CLI_TEXT, "HEX", NULL, "SHA-256 of the capability token"),
	ROW(bearer.secret_file, "ws-shared-secret-file", 0, CLI_TEXT, "FILE", NULL,
            "File with the HS256 secret of signed tokens (JWT)"),
	ROW(bearer.issuer, "ws-issuer", 0, CLI_TEXT, "ISSUER", NULL, "Required issuer of signed tokens"),
	ROW(bearer.audience, "ws-audience", 0, CLI_TEXT, "AUDIENCE", NULL, "Required audience of signed tokens"),
	ROW(bearer.clock_skew_seconds, "ws-max-clock-skew-seconds", 0, CLI_TEXT, "SECONDS", NULL,
            "Allowed clock skew of signed tokens (30)"),
	ROW(hosts, "ws-allow-host", 0, CLI_LIST, "NAME", NULL,
            "Also accept NAME in the Host header of requests; repeatable"),
	ROW(analytics, "analytics-default-enabled", 0, CLI_FLAG, NULL, NULL,
            NULL), /* without effect: nothing is reported */
	ROW(ready_fd, "ready-fd", 0, CLI_TEXT, "FD", NULL, NULL),
};

static const struct {
	const char *url; /* the whole address */
	enum app_server_place place;
} places[] = {
	{"stdio://", APP_SERVER_STDIO},
	{"unix://", APP_SERVER_UNIX_DEFAULT},
	{"fd://", APP_SERVER_INHERITED},
	{"off", APP_SERVER_OFF},
};

static int find_place(const char *url, enum app_server_place *ret, struct error *err)
{
	for (size_t i = 0; i < countof(places); i++) {
		if (str_is(str_of(url), places[i].url)) {
			*ret = places[i].place;
			return 0;
		}
	}
	if (!str_has_prefix(str_of(url), "ws://") && !str_has_prefix(str_of(url), "unix://"))
		return error_set(err, ERR_invalid,
		                 "invalid value '%s' for '--listen <URL>': unsupported --listen URL `%s`; expected "
		                 "`stdio://`, `unix://`, `unix://PATH`, `ws://IP:PORT`, `fd://`, or `off`",
		                 url, url);
	*ret = str_has_prefix(str_of(url), "ws://") ? APP_SERVER_WEB : APP_SERVER_UNIX;
	if (*ret == APP_SERVER_WEB && !transport_listener_is_address(url))
		return error_set(err, ERR_invalid,
		                 "invalid value '%s' for '--listen <URL>': invalid websocket --listen URL `%s`; "
		                 "expected `ws://IP:PORT`",
		                 url, url);
	return 0;
}

int app_server_options_place(const struct app_server_options_read *options, enum app_server_place *ret,
                             struct error *err)
{
	*ret = APP_SERVER_STDIO;
	if (options->stdio && options->listen)
		return error_set(err, ERR_usage, "the argument '--stdio' cannot be used with '--listen <URL>'");
	if (options->hosts.count > LIMIT_ALLOWED_HOSTS)
		return error_set(err, ERR_usage, "'--ws-allow-host' can be given %d times", LIMIT_ALLOWED_HOSTS);
	return options->listen ? find_place(options->listen, ret, err) : 0;
}
