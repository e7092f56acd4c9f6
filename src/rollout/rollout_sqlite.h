/* rollout_sqlite.h — SQLite, loaded when it is first needed, and databases with page checksums.
 *
 * Owns: the library, until the process ends. Thread: any; the first call loads the library, concurrent ones wait for
 * it. */
#ifndef ROLLOUT_ROLLOUT_SQLITE_H
#define ROLLOUT_ROLLOUT_SQLITE_H

#include <sqlite3.h>

#include "base/error.h"

/* sqlite->open_v2 is sqlite3_open_v2, and so on. */
struct rollout_sqlite {
#define SQLITE(name) __typeof__(&sqlite3_##name) name;
#include "rollout/rollout_sqlite.def"
#undef SQLITE
};

/* Returns NULL and err (ERR_unsupported) if SQLite is missing or too old. The result of the first call is final. */
must_check const struct rollout_sqlite *rollout_sqlite_load(struct error *err);

/* Opens or creates a database whose pages carry checksums: a page that was modified by other means reads as an error
 * (SQLITE_IOERR_DATA), never as other data. The file is not mapped. Returns an SQLite result code; *ret must be closed
 * in any case. */
must_check int rollout_sqlite_open(const struct rollout_sqlite *sqlite, const char *path, sqlite3 **ret);

#endif
