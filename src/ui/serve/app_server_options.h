/* app_server_options.h — the options of `codex app-server`: the address for clients and their authentication.
 *
 * Values are borrowed from argv, except the socket's path. The options are those of codex 0.169. */
#ifndef UI_APP_SERVER_OPTIONS_H
#define UI_APP_SERVER_OPTIONS_H

#include <stdbool.h>

#include "base/error.h"
#include "net/bearer.h"
#include "ui/cli/cli.h"

struct app_server_options_read {
	struct cli_list overrides;
	const char *listen; /* NULL: serve standard input and output */
	bool stdio, strict, analytics;
	struct bearer_options bearer;
	struct cli_list hosts;
	const char *ready_fd; /* descriptor by which the starting process is notified that the server accepts clients */
};

enum { APP_SERVER_OPTION_COUNT = 14 };
extern const struct cli_option app_server_option_rows[APP_SERVER_OPTION_COUNT];

enum app_server_place {
	APP_SERVER_STDIO,
	APP_SERVER_WEB,
	APP_SERVER_UNIX,
	APP_SERVER_UNIX_DEFAULT,
	APP_SERVER_INHERITED, /* a socket that systemd passes on */
	APP_SERVER_OFF,
};

/* Returns ERR_invalid or ERR_usage, worded for cli_print_error. */
must_check int app_server_options_place(const struct app_server_options_read *options, enum app_server_place *ret,
                                        struct error *err);

#endif
