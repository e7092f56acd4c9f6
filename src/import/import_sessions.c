/* A session is imported once: the list of those that were is read, and written after each, with CODEX_HOME locked. An
 * import that is killed repeats at most one. */
#include "import/import_sessions.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/sha.h"
#include "config/toml/toml.h"
#include "import/import_limits.h"
#include "import/import_scope.h"
#include "import/import_thread.h"

#define PROJECTS ".claude/projects"
#define LEDGER "external_agent_session_imports.json"

/* ---- what was imported ---- */

/* A damaged list is not replaced: sessions would be imported again, and it is not only ours. */
static int read_ledger(const struct import_scope *scope, struct arena *arena, const struct json **ret,
                       struct error *err)
{
	const struct import_source source =
		import_source_read(&scope->ours, LEDGER, LIMIT_IMPORT_SESSION_LEDGER, arena);
	*ret = source.json;
	return import_source_check(&source, err);
}

static const struct json *find_record(const struct json *ledger, const char *path)
{
	const struct json *records = json_get(ledger, "records");
	json_for_each(it, json_is(records, JSON_array) ? records : NULL)
		if (str_is(json_get_str(it, "source_path"), path))
			return it;
	return NULL;
}

bool import_session_is_done(const struct import_session *session)
{
	return session->record && json_get_i64(session->record, "source_modified_at", 0) == session->modified_ns;
}

static void write_record(struct json_writer *w, const struct import_session *session, struct str thread_id)
{
	char hash[SHA256_TEXT_SIZE];
	auto_buf struct buf record;
	buf_init(&record, LIMIT_LINE);
	sha256_text(session->text, hash);
	buf_append_c(&record, "{\"source_path\":");
	json_quote(&record, str_of(session->path));
	buf_printf(&record,
	           ",\"content_sha256\":\"%s\",\"imported_thread_id\":\"%.*s\",\"imported_at\":%" PRId64
	           ",\"source_modified_at\":%" PRId64 ",\"connector_names\":[],\"title\":",
	           hash, STR_ARG(thread_id), clock_unix_ms() / 1000, session->modified_ns);
	json_quote(&record, session->transcript.title);
	buf_append_char(&record, '}');
	jw_raw(w, buf_str(&record));
}

/* Writes the list with this session in place of its earlier record; all else of another program stays. */
static void write_ledger(struct json_writer *w, const struct json *old, const struct import_session *session,
                         struct str thread_id)
{
	const struct json *records = json_get(old, "records");
	jw_object(w);
	jw_key(w, "records");
	jw_array(w);
	json_for_each(it, json_is(records, JSON_array) ? records : NULL)
		if (!str_is(json_get_str(it, "source_path"), session->path))
			jw_value(w, it);
	write_record(w, session, thread_id);
	jw_array_end(w);
	json_for_each(it, old) {
		if (str_is(it->key, "records"))
			continue;
		jw_key_str(w, it->key);
		jw_value(w, it);
	}
	jw_object_end(w);
}

static int add_record(const struct import_scope *scope, const struct json *old, const struct import_session *session,
                      struct str thread_id, struct error *err)
{
	auto_buf struct buf out;
	const struct import_file file = {".", LEDGER, 0600, true};
	buf_init(&out, LIMIT_IMPORT_SESSION_LEDGER);
	struct json_writer w = json_writer(&out);
	write_ledger(&w, old, session, thread_id);
	if (out.over)
		return error_set(err, ERR_limit, "%s would be larger than %d MiB", LEDGER,
		                 (int)(LIMIT_IMPORT_SESSION_LEDGER / MIB));
	return import_tree_write(&scope->ours, &file, buf_str(&out), err);
}

/* ---- the files ---- */

static int by_time(const void *a, const void *b)
{
	const struct import_session *x = a, *y = b;
	return x->modified_ns != y->modified_ns ? (x->modified_ns < y->modified_ns) - (x->modified_ns > y->modified_ns)
	                                        : strcmp(x->path, y->path);
}

static void add_file(const struct import_scope *scope, const char *name, struct import_sessions *sessions)
{
	struct stat st;
	if (fstatat(scope->theirs.fd, name, &st, 0) != 0 || !S_ISREG(st.st_mode))
		return;
	struct import_session session = {
		.path = arena_printf(scope->arena, "%s/%s", scope->theirs.path, name),
		.modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
	};
	session.record = find_record(sessions->ledger, session.path);
	vec_push(sessions, session);
}

static int add_folder(const struct import_scope *scope, struct str folder, struct import_sessions *sessions,
                      struct error *err)
{
	struct import_names names = {0};
	const char *path = arena_printf(scope->arena, PROJECTS "/%.*s", STR_ARG(folder));
	int status = import_tree_list(&scope->theirs, path, ".jsonl", scope->arena, &names, err);
	for (size_t i = 0; i < names.count && sessions->count < LIMIT_IMPORT_SESSIONS; i++)
		add_file(scope, arena_printf(scope->arena, "%s/%.*s.jsonl", path, STR_ARG(names.items[i])), sessions);
	vec_finish(&names);
	if (status == 0 && sessions->count == LIMIT_IMPORT_SESSIONS)
		return error_set(err, ERR_limit, "%s/" PROJECTS " has more than %d sessions", scope->theirs.path,
		                 LIMIT_IMPORT_SESSIONS);
	return status;
}

int import_sessions_find(const struct import_scope *scope, struct import_sessions *ret, struct error *err)
{
	struct import_names folders = {0};
	*ret = (struct import_sessions){0};
	int status = read_ledger(scope, scope->arena, &ret->ledger, err);
	if (status == 0)
		status = import_tree_list(&scope->theirs, PROJECTS, "", scope->arena, &folders, err);
	for (size_t i = 0; i < folders.count; i++) {
		struct error failure;
		if (add_folder(scope, folders.items[i], ret, &failure) != 0 && status == 0)
			status = error_set(err, failure.code, "%s", failure.text);
	}
	vec_finish(&folders);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_time);
	return status;
}

void import_sessions_finish(struct import_sessions *sessions)
{
	vec_finish(sessions);
}

int import_session_read(const struct import_scope *scope, struct import_session *session, struct arena *arena,
                        struct error *err)
{
	const char *name = session->path + strlen(scope->theirs.path) + 1;
	struct import_transcript *transcript = &session->transcript;
	if (import_tree_read(&scope->theirs, name, LIMIT_IMPORT_SESSION, arena, &session->text, NULL, err) != 0 ||
	    import_transcript_read(session->text, NULL, NULL, arena, transcript, err) != 0)
		return -(int)err->code;
	if (!transcript->title.ptr)
		return error_set(err, ERR_invalid, "it has no message of yours");
	struct str cwd = transcript->cwd;
	if (!cwd.len || cwd.ptr[0] != '/' || str_has_nul(cwd) || !dir_exists(arena_cstr(arena, cwd)))
		return error_set(err, ERR_invalid, "its folder does not exist");
	return 0;
}

/* ---- import ---- */

static struct str provider_of(const struct import_scope *scope)
{
	const struct toml *value = toml_get(scope->user_config, "model_provider");
	return toml_is(value, TOML_string) && value->text.len ? value->text : STR("openai");
}

int import_session_carry(const struct import_scope *scope, const struct import_session *session,
                         char ret_id[UUID_TEXT_SIZE], struct error *err)
{
	const struct json *ledger;
	auto_arena struct arena arena = {0};
	struct import_thread thread = {scope->codex, provider_of(scope), session->text, &session->transcript, ""};
	struct import_session now = *session;
	auto_close int lock = import_lock(scope, err);
	if (lock < 0 || read_ledger(scope, &arena, &ledger, err) != 0)
		return -(int)err->code;
	now.record = find_record(ledger, session->path);
	if (import_session_is_done(&now))
		return error_set(err, ERR_exists, "it was imported already");
	struct str earlier = json_get_str(now.record, "imported_thread_id");
	if (uuid_is_valid(earlier))
		memcpy(thread.id, earlier.ptr, earlier.len);
	int status = import_thread_write(&thread, err);
	if (status == -ERR_not_found && thread.id[0]) { /* the user has deleted it */
		thread.id[0] = '\0';
		status = import_thread_write(&thread, err);
	}
	if (status != 0)
		return status;
	memcpy(ret_id, thread.id, UUID_TEXT_SIZE);
	return add_record(scope, ledger, session, str_of(ret_id), err);
}
