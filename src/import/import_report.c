/* All lists of details are there, as clients expect it, though an item has parts of one type only. */
#include "import/import_report.h"

#include <string.h>

#include "import/import_scope.h"

/* ---- items ---- */

static void write_details(struct json_writer *w, const struct import_kind *kind, const struct import_names *names,
                          struct str sessions)
{
	jw_key(w, "details");
	if (!kind->details) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_member_raw(w, "plugins", STR("[]"));
	jw_key(w, "sessions");
	jw_array(w);
	if (sessions.len)
		jw_raw(w, sessions);
	jw_array_end(w);
	for (size_t i = 0; i < IMPORT_KINDS; i++) {
		if (!import_kinds[i].details)
			continue;
		jw_key(w, import_kinds[i].details);
		jw_array(w);
		for (size_t k = 0; &import_kinds[i] == kind && k < names->count; k++) {
			jw_object(w);
			jw_member_str(w, "name", names->items[k]);
			jw_object_end(w);
		}
		jw_array_end(w);
	}
	jw_object_end(w);
}

void import_report_item(const struct import_scope *scope, const struct import_kind *kind,
                        const struct import_names *names, struct str sessions, const struct error *failure,
                        struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "itemType", kind->type);
	jw_key(w, "description");
	if (failure)
		jw_strf(w, "Cannot migrate all %s: %s", kind->what, failure->text);
	else
		jw_strf(w, "Migrate %s from %s to %s", kind->what, kind->source(scope), kind->target(scope));
	jw_member_cstr(w, "cwd", scope->cwd);
	write_details(w, kind, names, sessions);
	jw_object_end(w);
}

/* ---- outcomes ---- */

void import_report_failure(const struct import_carrying *carrying, struct str source, const char *stage,
                           const char *message)
{
	struct buf *out = &carrying->result->failures;
	struct json_writer w = json_writer(out);
	w.comma = out->len > 0;
	jw_object(&w);
	jw_member_str(&w, "itemType", carrying->result->item_type);
	jw_member_str(&w, "errorType", STR_NONE);
	jw_member_cstr(&w, "subErrorType", strcmp(stage, IMPORT_MISSING) == 0 ? "session_not_detected" : NULL);
	jw_member_cstr(&w, "failureStage", stage);
	jw_member_cstr(&w, "message", message);
	jw_member_str(&w, "cwd", carrying->cwd);
	jw_member_str(&w, "source", source);
	jw_object_end(&w);
}

void import_report_success(const struct import_carrying *carrying, struct str source, struct str target,
                           struct str title)
{
	struct buf *out = &carrying->result->successes;
	struct json_writer w = json_writer(out);
	w.comma = out->len > 0;
	jw_object(&w);
	jw_member_str(&w, "itemType", carrying->result->item_type);
	jw_member_str(&w, "cwd", carrying->cwd);
	jw_member_str(&w, "source", source);
	jw_member_str(&w, "target", target);
	jw_member_str(&w, "title", title);
	jw_object_end(&w);
}

void import_report_write(const struct import_result *result, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "itemType", result->item_type);
	jw_key(&w, "successes");
	jw_array(&w);
	if (result->successes.len)
		jw_raw(&w, buf_str(&result->successes));
	jw_array_end(&w);
	jw_key(&w, "failures");
	jw_array(&w);
	if (result->failures.len)
		jw_raw(&w, buf_str(&result->failures));
	jw_array_end(&w);
	jw_object_end(&w);
}

void import_report_finish(struct import_result *result)
{
	buf_finish(&result->successes);
	buf_finish(&result->failures);
}
