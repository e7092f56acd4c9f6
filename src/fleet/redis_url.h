/* redis_url.h — the address of a Redis server: redis://[user[:password]@]host[:port][/db], the same with rediss:// for
 * TLS, or unix:///path.
 *
 * Owns: its texts. The password is not part of `shown`, which messages use. Any thread. */
#ifndef FLEET_REDIS_URL_H
#define FLEET_REDIS_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct redis_url {
	bool has_tls;
	char *path; /* of a Unix socket, or NULL */
	char *host, *port;
	char *user, *password; /* NULL: none; a password without a user belongs to the user `default` */
	uint64_t db;
	char *shown; /* the address without user and password */
};

/* ERR_usage, and nothing to finish, for any other text. */
must_check int redis_url_read(const char *text, struct redis_url *ret, struct error *err);
void redis_url_finish(struct redis_url *url);

#endif
