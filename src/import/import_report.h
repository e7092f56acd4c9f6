/* import_report.h — the JSON of the items that were found, and of what became of them. */
#ifndef IMPORT_IMPORT_REPORT_H
#define IMPORT_IMPORT_REPORT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

struct import_kind;
struct import_names;
struct import_scope;

/* The outcome of items of one type: lists of objects, separated by commas. */
struct import_result {
	struct str item_type;
	struct buf successes, failures;
};
/* Appends {"itemType":…,"successes":[…],"failures":[…]}. */
void import_report_write(const struct import_result *result, struct buf *out);
void import_report_finish(struct import_result *result);

/* ---- for import/ alone ---- */

/* Writes an item with the names of its parts. sessions: a list of sessions, without brackets. failure: why it does not
 * have all; NULL: it has. */
void import_report_item(const struct import_scope *scope, const struct import_kind *kind,
                        const struct import_names *names, struct str sessions, const struct error *failure,
                        struct json_writer *w);

/* The import of one item. */
struct import_carrying {
	const struct import_scope *scope;
	const struct import_kind *kind;
	struct import_result *result;
	struct str cwd;
};
#define IMPORT_MISSING "session_missing" /* a stage that codex 0.169 has */
void import_report_failure(const struct import_carrying *carrying, struct str source, const char *stage,
                           const char *message);
void import_report_success(const struct import_carrying *carrying, struct str source, struct str target,
                           struct str title);

#endif
