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
/* Asks the keyring, if the place has one, and tries to store what was kept (auth_store_keep). Blocking, for
 * LIMIT_KEYRING_READ_MS for each at most. */
void auth_store_fetch(struct auth_place place);

/* Begins a change that depends on what is stored: until auth_store_end, no other thread or process makes one. Blocking;
 * ERR_busy after wait_ms, 0: at once. On a file system without locks, other processes are not kept out. */
struct auth_change {
	int fd;
};
must_check int auth_store_begin(struct auth_place place, unsigned wait_ms, struct auth_change *ret, struct error *err);
void auth_store_end(struct auth_change *change);

/* Appends the text; ERR_not_found without one. Blocking if the place is slow and nothing was fetched. With "auto", a
 * keyring that does not answer (ERR_timeout) is an error only if there is no file, or if it has had credentials; out
 * then has these. */
must_check int auth_store_read(struct auth_place place, struct buf *out, struct error *err);

/* Refreshed tokens must not be lost: what they replace, with the refresh token `spent`, cannot be used again. Keeps the
 * text in memory, where it precedes what is stored, until auth_store_settle. */
void auth_store_keep(struct auth_place place, struct str text, struct str spent);

/* To be called at the end of the program: tries a last time to store what is kept, and waits for LIMIT_AUTH_LOCK_MS. */
must_check int auth_store_flush(struct error *err);

/* The following are called within a change, unless they say otherwise. */

/* As auth_store_fetch, for what is stored alone. */
void auth_store_refetch(struct auth_place place);
/* is_memory: keeps the text in memory in every store, for which no change is needed; otherwise a text in memory is
 * removed from there. */
must_check int auth_store_write(struct auth_place place, struct str text, bool is_memory, struct error *err);
/* Stores the text that is kept if a spent token is stored. is_outdated: another login is stored, or none, and the text
 * was dropped. On failure it is still kept; with "auto" a file may have it, err->code is then ERR_none. */
must_check int auth_store_settle(struct auth_place place, bool *ret_is_outdated, struct error *err);
/* Removes all of it even if the keyring fails. */
must_check int auth_store_remove(struct auth_place place, bool *ret_was_there, struct error *err);

/* Wipes and frees the text. */
void auth_store_wipe(struct buf *buf);

#endif
