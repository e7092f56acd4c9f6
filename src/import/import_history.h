/* import_history.h — the finished imports, newest first, in $CODEX_HOME/import_history.jsonl: at most
 * LIMIT_IMPORT_HISTORY entries in LIMIT_IMPORT_TEXT bytes. Any thread; all functions block. */
#ifndef IMPORT_IMPORT_HISTORY_H
#define IMPORT_IMPORT_HISTORY_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

/* Adds an import with its results, a list of {"itemType":…,"successes":[…],"failures":[…]}. An entry that is too large
 * is an error, and the oldest ones make room for it. */
struct import_entry {
	struct str id, provider; /* the provider may be STR_NONE */
	const struct json *results;
};
must_check int import_history_add(const char *codex, const struct import_entry *entry, struct error *err);
/* Appends the entries as the app-server's protocol has them, separated by commas. Lines that are damaged are skipped.
 */
must_check int import_history_read(const char *codex, struct buf *out, struct error *err);

#endif
