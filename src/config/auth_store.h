/* auth_store.h — the text of the stored credentials, in a file, in a keyring, or in the memory of the process.
 *
 * Memory takes precedence, in every store: a client's tokens are only there. Any thread.
 *
 * A keyring is another process, which may hang: the loop must not wait for it. A worker fetches what it has; from then
 * on the process reads what was fetched, or written, last. */
#ifndef CONFIG_AUTH_STORE_H
#define CONFIG_AUTH_STORE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "protocol/record/enum.h"

/* The place of the credentials of one CODEX_HOME. Borrows home. */
struct auth_place {
	const char *home;
	enum credentials_store store;
};

static inline struct auth_place auth_place_file(const char *home)
{
	return (struct auth_place){home, credentials_store_file};
}

/* True if auth_store_fetch should precede a read. */
bool auth_store_is_slow(struct auth_place place);
/* Asks the keyring, if the place has one. Blocking, for LIMIT_KEYRING_READ_MS at most. */
void auth_store_fetch(struct auth_place place);

/* Appends the text; ERR_not_found without one. Blocking if the place is slow and nothing was fetched. */
must_check int auth_store_read(struct auth_place place, struct buf *out, struct error *err);
/* is_memory: keeps the text in memory in every store; otherwise a text in memory is removed from there. */
must_check int auth_store_write(struct auth_place place, struct str text, bool is_memory, struct error *err);
must_check int auth_store_remove(struct auth_place place, bool *ret_was_there, struct error *err);

/* Wipes and frees the text. */
void auth_store_wipe(struct buf *buf);

#endif
