/* account_store.h — the stored login, which other processes read and write, too.
 *
 * Thread: loop only. No callback runs inside a call to this module. */
#ifndef ACCOUNT_ACCOUNT_STORE_H
#define ACCOUNT_ACCOUNT_STORE_H

#include <stdbool.h>

#include "base/error.h"
#include "config/auth.h"

struct account_fetch;
struct loop;

/* Called once, unless cancelled; the credentials can then be read without waiting. */
typedef void (*account_fetch_fn)(void *self);

/* Has a worker ask the keyring. Copies the place. Returns NULL, and calls nothing, if there is no keyring to ask. */
struct account_fetch *account_store_fetch(struct loop *loop, struct auth_place place, account_fetch_fn on_done,
                                          void *self);
void account_fetch_cancel(struct account_fetch *fetch); /* NULL is a no-op; the end of the program waits for nothing */

/* Takes the lock that refreshes hold, without waiting. Returns its descriptor, or -1 and err: ERR_busy if another
 * process has it. On a file system without locks this succeeds. */
must_check int account_store_lock(const char *home, struct error *err);

#endif
