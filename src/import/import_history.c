/* The file is replaced as a whole, with the folder locked, so that two programs lose nothing of each other's. */
#include "import/import_history.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_file.h"

#define FILE_NAME "import_history.jsonl"

static int read_lines(const char *path, struct buf *out, struct error *err)
{
	struct error failure;
	if (file_read_regular(path, out, &failure) == 0 || failure.code == ERR_not_found)
		return 0;
	return error_set(err, failure.code, "%s", failure.text);
}

/* Writes the parts of all types in one list. Each has the same members; those that it lacks are null. */
static void write_parts(const struct json *results, const char *list, const char *const *members, size_t count,
                        struct json_writer *w)
{
	jw_key(w, list);
	jw_array(w);
	json_for_each(result, results) {
		json_for_each(part, json_get(result, list)) {
			jw_object(w);
			for (size_t i = 0; i < count; i++)
				jw_member_str(w, members[i], json_get_str(part, members[i]));
			jw_object_end(w);
		}
	}
	jw_array_end(w);
}

static void write_entry(const struct import_entry *entry, struct buf *out)
{
	static const char *const successes[] = {"itemType", "cwd", "source", "target", "title"};
	static const char *const failures[] = {"itemType", "errorType", "subErrorType", "failureStage",
	                                       "message",  "cwd",       "source"};
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "importId", entry->id);
	jw_member_str(&w, "providerId", entry->provider);
	jw_member_i64(&w, "completedAtMs", (int64_t)clock_unix_ms());
	write_parts(entry->results, "successes", successes, countof(successes), &w);
	write_parts(entry->results, "failures", failures, countof(failures), &w);
	jw_object_end(&w);
	buf_append_char(out, '\n');
}

/* Appends the old lines that fit. */
static void keep(struct str old, struct buf *out)
{
	struct str line;
	for (int i = 1; i < LIMIT_IMPORT_HISTORY && str_next_line(&old, &line); i++) {
		if (out->len + line.len + 1 > LIMIT_IMPORT_TEXT)
			return;
		buf_append_str(out, line);
		buf_append_char(out, '\n');
	}
}

int import_history_add(const char *codex, const struct import_entry *entry, struct error *err)
{
	auto_buf struct buf old, text;
	auto_free char *path = path_join(codex, FILE_NAME);
	buf_init(&old, LIMIT_IMPORT_TEXT);
	buf_init(&text, LIMIT_IMPORT_TEXT);
	write_entry(entry, &text);
	if (text.over)
		return error_set(err, ERR_limit, "the results are larger than %d MiB", (int)(LIMIT_IMPORT_TEXT / MIB));
	if (dir_make(codex, 0700, err) != 0)
		return -(int)err->code;
	auto_close int lock = config_file_lock(codex, err);
	if (lock < 0 || read_lines(path, &old, err) != 0)
		return -(int)err->code;
	keep(buf_str(&old), &text);
	return file_write_atomic(path, buf_str(&text), 0600, true, err);
}

int import_history_read(const char *codex, struct buf *out, struct error *err)
{
	struct str line, rest;
	auto_buf struct buf text;
	auto_free char *path = path_join(codex, FILE_NAME);
	buf_init(&text, LIMIT_IMPORT_TEXT);
	if (read_lines(path, &text, err) != 0)
		return -(int)err->code;
	rest = buf_str(&text);
	while (str_next_line(&rest, &line)) {
		auto_arena struct arena arena = {0};
		struct error ignored;
		if (!json_is(json_parse(&arena, line, &ignored), JSON_object))
			continue;
		if (out->len)
			buf_append_char(out, ',');
		buf_append_str(out, line);
	}
	return 0;
}
