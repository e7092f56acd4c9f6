/* auth_memory.h — texts of credentials in the memory of the process, by CODEX_HOME. Any thread. */
#ifndef CONFIG_AUTH_MEMORY_H
#define CONFIG_AUTH_MEMORY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

enum memory_kind {
	MEMORY_LOGIN,   /* only there */
	MEMORY_KEYRING, /* as read or written last */
	MEMORY_UNSAVED, /* refreshed tokens that are not stored yet */
	MEMORY_SPENT,   /* the refresh tokens that these replace, as lines: the store may have any of them */
	MEMORY_COUNT
};

/* Appends the text. False without one. Sets ret_err, with code 0 unless it is that of a keyring. */
must_check bool memory_read(enum memory_kind kind, const char *home, struct buf *out, struct error *ret_err);
bool memory_has(enum memory_kind kind, const char *home);
char *memory_find_unsaved(void); /* the home of such a text; NULL: none; to be freed */
void memory_write(enum memory_kind kind, const char *home, struct str text);
void memory_append_line(enum memory_kind kind, const char *home, struct str line);
/* Removes the texts that precede what is stored. True if there was one. */
bool memory_clear(const char *home);
/* The same for the refreshed tokens alone, unless others have replaced this text. */
void memory_drop_unsaved(const char *home, struct str text);

/* Keeps what the keyring has; beside an error, what it had last. err: code 0, or why there is no text. */
void memory_keep_keyring(const char *home, struct str text, const struct error *err);

#endif
