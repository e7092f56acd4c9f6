/* rollout_sqlite.h — SQLite, loaded when it is first needed, and a way to open files in which damage is noticed.
 *
 * Owns: the library, until the process ends. Thread: any; the first call does the work, others wait for it. */
#ifndef ROLLOUT_ROLLOUT_SQLITE_H
#define ROLLOUT_ROLLOUT_SQLITE_H

#include <sqlite3.h>

struct error;

/* sqlite->open_v2 is sqlite3_open_v2, and so on. */
struct rollout_sqlite {
#define SQLITE(name) __typeof__(&sqlite3_##name) name;
#include "rollout/rollout_sqlite.def"
#undef SQLITE
};

/* NULL and err (ERR_unsupported) if it is missing or too old; the answer of the first call is final. */
const struct rollout_sqlite *rollout_sqlite_load(struct error *err);

/* Opens or makes a database of pages that carry their own checksum: whatever else is written into the file, its page
 * reads as an error (SQLITE_IOERR_DATA), never as other data. Nothing is mapped. An SQLite result code; *ret is to be
 * closed in any case. */
int rollout_sqlite_open(const struct rollout_sqlite *sqlite, const char *path, sqlite3 **ret);

#endif
