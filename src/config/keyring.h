/* keyring.h — one secret text for each CODEX_HOME in the user's keyring: the Secret Service on the session bus, by
 * libsecret, which is loaded with the first call.
 *
 * The item has the names that other Codex programs give it. Any thread. Blocking: a thread asks the service, and the
 * caller waits for it, so that a service that hangs, or a user who is asked for a password and does not answer, holds
 * nothing up for long. */
#ifndef CONFIG_KEYRING_H
#define CONFIG_KEYRING_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* Appends the text: ERR_not_found without one; ERR_unsupported without a library or a service, or if the service
 * refuses; ERR_timeout if it does not answer within LIMIT_KEYRING_READ_MS, or has not answered an earlier call yet. */
must_check int keyring_read(const char *home, struct buf *out, struct error *err);
/* Replaces the text. ERR_timeout: it does so later, if the service answers after all. The service gets such changes in
 * the order of their calls, not in that of other processes: what it has received cannot be taken back. Waits for an
 * earlier one. */
must_check int keyring_write(const char *home, struct str text, unsigned wait_ms, struct error *err);
/* Waits for LIMIT_KEYRING_WRITE_MS at most; otherwise as keyring_write. */
must_check int keyring_remove(const char *home, bool *ret_was_there, struct error *err);

#endif
