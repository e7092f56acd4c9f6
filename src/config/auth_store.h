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
/* Asks the keyring, if the place has one, and gives it a text that it did not take before (auth_store_renew). Blocking,
 * for LIMIT_KEYRING_READ_MS for each at most. */
void auth_store_fetch(struct auth_place place);

/* Begins a change that depends on what is stored: until auth_store_end, no other thread or process makes one. Blocking;
 * ERR_busy after LIMIT_AUTH_LOCK_MS. On a file system without locks, other processes are not kept out. */
struct auth_change {
	int fd;
};
must_check int auth_store_begin(struct auth_place place, struct auth_change *ret, struct error *err);
void auth_store_end(struct auth_change *change);

/* Appends the text; ERR_not_found without one. Blocking if the place is slow and nothing was fetched. With "auto", a
 * keyring that does not answer (ERR_timeout) is an error only if there is no file. */
must_check int auth_store_read(struct auth_place place, struct buf *out, struct error *err);

/* The following are called within a change, unless they say otherwise. */

/* As auth_store_fetch, for what is stored alone. */
void auth_store_refetch(struct auth_place place);
/* is_memory: keeps the text in memory in every store, for which no change is needed; otherwise a text in memory is
 * removed from there. */
must_check int auth_store_write(struct auth_place place, struct str text, bool is_memory, struct error *err);
/* Replaces a text with the refresh token `spent`, which cannot be used again: the new text must not be lost. If the
 * keyring does not take it, it is kept in memory, with "auto" in the file as well, until auth_store_fetch has given it
 * to the keyring or found another text there. */
must_check int auth_store_renew(struct auth_place place, struct str text, struct str spent, struct error *err);
/* Without a change, because another process does not end its own: keeps the text in memory. False without a keyring. */
must_check bool auth_store_keep(struct auth_place place, struct str text, struct str spent);
/* Removes all of it even if the keyring fails. */
must_check int auth_store_remove(struct auth_place place, bool *ret_was_there, struct error *err);

/* Wipes and frees the text. */
void auth_store_wipe(struct buf *buf);

#endif
