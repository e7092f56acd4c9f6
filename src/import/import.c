/* Detection and import share the search, so that an import does what was found, and only what still is. A name that a
 * client sends is compared with the found ones and never becomes a path. */
#include "import/import.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "config/toml/toml.h"
#include "import/import_limits.h"
#include "import/import_report.h"
#include "import/import_scope.h"
#include "import/import_sessions.h"

#define SESSIONS "SESSIONS"

/* ---- the places ---- */

/* Returns the nearest folder at or above cwd that is a repository, but not the home, else cwd; NULL and err if it does
 * not exist. */
static const char *project_root(struct arena *arena, const char *cwd, const char *home, struct error *err)
{
	auto_free char *real_home = realpath(home, NULL);
	auto_free char *real = cwd[0] == '/' ? realpath(cwd, NULL) : NULL;
	if (!real || !dir_exists(real)) {
		best_effort(error_set(err, ERR_not_found, "%s is no folder; its path must be absolute", cwd));
		return NULL;
	}
	for (struct str at = str_of(real); at.len > 1; at = path_dir(arena_cstr(arena, at))) {
		if (real_home && str_is(at, real_home))
			break;
		if (marker_exists(arena_printf(arena, "%.*s/.git", STR_ARG(at))))
			return arena_cstr(arena, at);
	}
	return arena_cstr(arena, str_of(real));
}

static const struct json *state_of(const struct import *import, const char *cwd)
{
	const struct json *projects = json_get(import->state.json, "projects");
	if (!cwd)
		return import->state.json;
	json_for_each(it, json_is(projects, JSON_object) ? projects : NULL)
		if (str_is(it->key, cwd))
			return it;
	return NULL;
}

/* A file that cannot be read is reported by the change. The user's file may be a link. */
static const struct toml *read_config(struct import_scope *scope, const struct import_tree *tree, const char *path)
{
	struct str text;
	struct error ignored;
	if (import_tree_read(tree, path, LIMIT_CONFIG_FILE, scope->arena, &text, NULL, &ignored) != 0)
		return NULL;
	return toml_parse(scope->arena, text, path, &ignored);
}

/* The three trees of a project are one descriptor, so that they stay one folder when its path changes. */
static int open_project(struct import_scope *scope, const char *home, struct error *err)
{
	if (import_tree_open(&scope->theirs, scope->cwd, true, err) != 0 ||
	    import_tree_share(&scope->shared, &scope->theirs, err) != 0 ||
	    import_tree_share(&scope->ours, &scope->theirs, err) != 0)
		return -(int)err->code;
	if (import_tree_is(&scope->theirs, ".", home))
		return error_set(err, ERR_invalid, "%s is your home, which is no project", scope->cwd);
	if (import_tree_is(&scope->theirs, ".codex", scope->codex))
		return error_set(err, ERR_invalid, "%s/.codex is your CODEX_HOME, so the folder is no project",
		                 scope->cwd);
	scope->config = read_config(scope, &scope->ours, ".codex/config.toml");
	return 0;
}

static int open_user(struct import_scope *scope, const char *home, struct error *err)
{
	scope->theirs.follows_links = true;
	scope->config = scope->user_config;
	return import_tree_open(&scope->theirs, home, false, err) != 0 ||
	                       import_tree_share(&scope->shared, &scope->theirs, err) != 0 ||
	                       import_tree_open(&scope->ours, scope->codex, false, err) != 0
	               ? -(int)err->code
	               : 0;
}

static int open_trees(struct import_scope *scope, const char *home, struct error *err)
{
	struct import_tree own = {.fd = -1, .follows_links = true};
	if (dir_make(scope->codex, 0700, err) != 0 || import_tree_open(&own, scope->codex, false, err) != 0)
		return -(int)err->code;
	scope->user_config = read_config(scope, &own, "config.toml");
	import_tree_close(&own);
	return scope->cwd ? open_project(scope, home, err) : open_user(scope, home, err);
}

static void scope_close(struct import_scope *scope)
{
	import_tree_close(&scope->theirs);
	import_tree_close(&scope->ours);
	import_tree_close(&scope->shared);
	arena_finish(scope->arena);
	free(scope->arena);
}

/* scope_close is needed in any case. A folder cwd stands for its project. */
static int scope_open(struct import_scope *scope, struct import *import, const char *cwd, struct error *err)
{
	static const char *const files[] = {".claude/settings.json", ".claude/settings.local.json", ".mcp.json"};
	*scope = (struct import_scope){
		.arena = xnew(struct arena),
		.codex = import->codex,
		.all = &import->state,
		.theirs.fd = -1,
		.ours.fd = -1,
		.shared.fd = -1,
	};
	if (cwd && !(scope->cwd = project_root(scope->arena, cwd, import->home, err)))
		return -(int)err->code;
	scope->state = state_of(import, scope->cwd);
	if (open_trees(scope, import->home, err) != 0)
		return -(int)err->code;
	scope->hooks =
		import_source_read(&scope->ours, import_ours(scope, "hooks.json"), LIMIT_CONFIG_FILE, scope->arena);
	for (size_t i = 0; i < (scope->cwd ? countof(files) : IMPORT_servers); i++)
		scope->sources[i] = import_source_read(&scope->theirs, files[i], LIMIT_IMPORT_FILE, scope->arena);
	return 0;
}

/* ---- the whole ---- */

int import_init(struct import *import, struct error *err)
{
	const char *home = config_env("HOME");
	struct import_tree tree = {.fd = -1, .follows_links = true};
	*import = (struct import){.most_sessions = LIMIT_IMPORT_SESSIONS_FOUND, .most_days = LIMIT_IMPORT_SESSION_DAYS};
	if (!home || home[0] != '/')
		return error_set(err, ERR_config, "HOME is not set");
	import->home = home;
	import->codex = config_env_home(err);
	if (!import->codex || import_tree_open(&tree, home, false, err) != 0)
		return -(int)err->code;
	import->state = import_source_read(&tree, ".claude.json", LIMIT_IMPORT_STATE, &import->arena);
	import_tree_close(&tree);
	return 0;
}

static void drop_scope(struct import *import)
{
	if (import->last)
		scope_close(import->last);
	free(import->last);
	free(import->last_cwd);
	import->last = NULL;
	import->last_cwd = NULL;
}

void import_finish(struct import *import)
{
	drop_scope(import);
	vec_finish(&import->seen);
	free(import->codex);
	arena_finish(&import->arena);
}

/* Returns the places, which belong to the import; NULL and err if they cannot be opened. */
static const struct import_scope *get_scope(struct import *import, const char *cwd, struct error *err)
{
	if (import->last && strcmp(import->last_cwd, cwd ? cwd : "") == 0)
		return import->last;
	drop_scope(import);
	import->last = xnew(struct import_scope);
	import->last_cwd = xstrdup(cwd ? cwd : "");
	if (scope_open(import->last, import, cwd, err) == 0)
		return import->last;
	drop_scope(import);
	return NULL;
}

/* ---- detection ---- */

static bool is_among(const struct import_names *names, struct str name)
{
	for (size_t i = 0; i < names->count; i++)
		if (str_eq(names->items[i], name))
			return true;
	return false;
}

static void detect_kind(const struct import_scope *scope, const struct import_kind *kind, struct json_writer *w)
{
	struct error err;
	size_t kept = 0;
	struct import_names names = {0};
	int status = kind->find(scope, &names, &err);
	for (size_t i = 0; i < names.count; i++)
		if (!kind->has(scope, names.items[i]))
			names.items[kept++] = names.items[i];
	names.count = kept;
	if (kept || status != 0)
		import_report_item(scope, kind, &names, STR(""), status != 0 ? &err : NULL, w);
	vec_finish(&names);
}

/* ---- detection of sessions ---- */

static const char *session_source(const struct import_scope *scope)
{
	return arena_printf(scope->arena, "%s/.claude/projects", scope->theirs.path);
}

static const char *session_target(const struct import_scope *scope)
{
	return arena_printf(scope->arena, "%s/sessions", scope->codex);
}

/* It is no row of the table, because its parts are not names. */
static const struct import_kind session_kind = {.type = SESSIONS,
                                                .details = SESSIONS,
                                                .what = "recent sessions",
                                                .source = session_source,
                                                .target = session_target};

static void write_session(struct json_writer *w, const struct import_session *session)
{
	jw_object(w);
	jw_member_cstr(w, "path", session->path);
	jw_member_str(w, "cwd", session->transcript.cwd);
	jw_member_str(w, "title", session->transcript.title);
	jw_object_end(w);
}

/* Writes those that can be imported; files that hold no session are left out, others that cannot be read are an
 * error. */
static int write_sessions(const struct import *import, const struct import_scope *scope,
                          struct import_sessions *sessions, struct json_writer *w, struct error *err)
{
	int status = 0;
	int64_t count = 0, read = 0, days = import->most_days ? import->most_days : 1;
	int64_t oldest_ms = days < LIMIT_IMPORT_SESSION_MOST_DAYS ? clock_unix_ms() - days * 86400 * 1000 : INT64_MIN;
	for (size_t i = 0; i < sessions->count && count < import->most_sessions; i++) {
		struct error failure;
		auto_arena struct arena arena = {0};
		struct import_session *session = &sessions->items[i];
		if (session->modified_ns / 1000000 < oldest_ms)
			break;
		if (import_session_is_done(session))
			continue;
		if (read++ == LIMIT_IMPORT_SESSIONS_READ)
			return error_set(err, ERR_limit, "there are more than %d files to read",
			                 LIMIT_IMPORT_SESSIONS_READ);
		if (import_session_read(scope, session, &arena, &failure) == 0) {
			write_session(w, session);
			count++;
		} else if (failure.code != ERR_invalid) {
			status = error_set(err, failure.code, "%s", failure.text);
		}
	}
	return status;
}

static void detect_sessions(const struct import *import, const struct import_scope *scope, struct json_writer *w)
{
	struct error err;
	struct import_sessions sessions;
	auto_buf struct buf list;
	buf_init(&list, LIMIT_IMPORT_TEXT);
	struct json_writer items = json_writer(&list);
	int status = import_sessions_find(scope, &sessions, &err);
	if (write_sessions(import, scope, &sessions, &items, &err) != 0)
		status = -(int)err.code;
	import_sessions_finish(&sessions);
	if (list.len || status != 0)
		import_report_item(scope, &session_kind, &(struct import_names){0}, buf_str(&list),
		                   status ? &err : NULL, w);
}

int import_detect(struct import *import, const char *cwd, struct buf *out, struct error *err)
{
	struct json_writer w = json_writer(out);
	const struct import_scope *scope = get_scope(import, cwd, err);
	if (!scope)
		return -(int)err->code;
	struct str place = arena_str(&import->arena, str_of(scope->cwd ? scope->cwd : ""));
	if (is_among(&import->seen, place))
		return 0;
	vec_push(&import->seen, place);
	w.comma = out->len > 0;
	for (size_t i = 0; i < IMPORT_KINDS; i++)
		detect_kind(scope, &import_kinds[i], &w);
	if (!scope->cwd)
		detect_sessions(import, scope, &w);
	return 0;
}

/* ---- import ---- */

/* Names become names of files, roles and servers. */
static bool is_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		bool is_fine = ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
		               (i && (c == '-' || c == '.'));
		if (!is_fine)
			return false;
	}
	return name.len && name.len <= LIMIT_IMPORT_NAME;
}

static void carry(const struct import_carrying *carrying, struct str name)
{
	struct error err;
	struct buf note;
	const struct import_kind *kind = carrying->kind;
	const struct import_scope *scope = carrying->scope;
	struct str source = kind->details ? name : str_of(kind->source(scope));
	buf_init(&note, LIMIT_IMPORT_FILE);
	if (kind->has(scope, name)) {
		import_report_failure(carrying, source, "skipped", "it exists already and stays as it is");
	} else if (!is_name(name)) {
		import_report_failure(carrying, source, "import",
		                      "its name has other characters than letters, digits, -, _ and .");
	} else if (kind->carry(scope, name, &note, &err) != 0) {
		import_report_failure(carrying, source, err.code == ERR_exists ? "skipped" : "import", err.text);
	} else {
		import_report_success(carrying, source, kind->details ? name : str_of(kind->target(scope)), STR_NONE);
		if (note.len)
			import_report_failure(carrying, source, "partial",
			                      arena_cstr(scope->arena, str_trim(buf_str(&note))));
	}
	buf_finish(&note);
}

/* No details, or none of this kind, name all parts; an empty list names none. */
static void carry_all(const struct import_carrying *carrying, const struct json *details)
{
	struct error err;
	struct import_names names = {0};
	const char *key = carrying->kind->details;
	const struct json *list = key ? json_get(details, key) : NULL;
	bool is_list = json_is(list, JSON_array) && list->count <= LIMIT_IMPORT_ENTRIES;
	if (list && !is_list && list->type != JSON_null) {
		import_report_failure(carrying, STR_NONE, "detect", "the list of its parts is too long");
		return;
	}
	int status = carrying->kind->find(carrying->scope, &names, &err);
	for (size_t i = 0; i < names.count && !is_list; i++)
		carry(carrying, names.items[i]);
	json_for_each(it, is_list ? list : NULL) {
		struct str name = json_get_str(it, "name");
		if (is_among(&names, name))
			carry(carrying, name);
		else
			import_report_failure(carrying, name, "detect", "it is not there any more");
	}
	vec_finish(&names);
	if (status != 0)
		import_report_failure(carrying, STR_NONE, "detect", err.text);
}

/* ---- import of sessions ---- */

static void carry_session(struct import_carrying *carrying, struct import_session *session)
{
	struct error err;
	char id[UUID_TEXT_SIZE];
	auto_arena struct arena arena = {0};
	struct str source = str_of(session->path);
	if (import_session_is_done(session)) {
		import_report_failure(carrying, source, "skipped", "it was imported already");
	} else if (import_session_read(carrying->scope, session, &arena, &err) != 0 ||
	           import_session_carry(carrying->scope, session, id, &err) != 0) {
		import_report_failure(carrying, source, err.code == ERR_exists ? "skipped" : "import", err.text);
	} else {
		carrying->cwd = session->transcript.cwd;
		import_report_success(carrying, source, str_of(id), session->transcript.title);
		carrying->cwd = STR_NONE;
	}
}

static bool is_listed(const struct json *list, const char *path)
{
	json_for_each(it, list)
		if (str_is(json_get_str(it, "path"), path))
			return true;
	return false;
}

static bool is_found(const struct import_sessions *sessions, struct str path)
{
	for (size_t i = 0; i < sessions->count; i++)
		if (str_is(path, sessions->items[i].path))
			return true;
	return false;
}

/* The last one is imported last, so that it comes first in lists. */
static void carry_list(struct import_carrying *carrying, const struct import_sessions *sessions,
                       const struct json *list)
{
	if (list && list->count > LIMIT_IMPORT_SESSIONS_READ) {
		import_report_failure(carrying, STR_NONE, "detect", "the list of its parts is too long");
		return;
	}
	json_for_each(it, list)
		if (!is_found(sessions, json_get_str(it, "path")))
			import_report_failure(carrying, json_get_str(it, "path"), IMPORT_MISSING,
			                      "there is no session of Claude Code at this path");
	for (size_t i = sessions->count; i-- > 0;)
		if (is_listed(list, sessions->items[i].path))
			carry_session(carrying, &sessions->items[i]);
}

/* Without a list, all that a detection finds are imported. */
static void carry_sessions(struct import *import, struct import_carrying *carrying, const struct json *details)
{
	struct error err;
	auto_buf struct buf found;
	struct import_sessions sessions;
	const struct json *list = json_get(details, "sessions");
	buf_init(&found, LIMIT_IMPORT_TEXT);
	struct json_writer w = json_writer(&found);
	int status = import_sessions_find(carrying->scope, &sessions, &err);
	if (!json_is(list, JSON_array)) {
		jw_array(&w);
		if (write_sessions(import, carrying->scope, &sessions, &w, &err) != 0)
			status = -(int)err.code;
		jw_array_end(&w);
		list = json_parse_copy(carrying->scope->arena, buf_str(&found), &err);
	}
	carry_list(carrying, &sessions, list);
	import_sessions_finish(&sessions);
	if (status != 0)
		import_report_failure(carrying, STR_NONE, "detect", err.text);
}

static const struct import_kind *find_kind(struct str type)
{
	for (size_t i = 0; i < IMPORT_KINDS; i++)
		if (str_is(type, import_kinds[i].type))
			return &import_kinds[i];
	return NULL;
}

void import_item(struct import *import, const struct json *item, struct import_result *ret)
{
	struct error err;
	struct str cwd = json_get_str(item, "cwd");
	*ret = (struct import_result){.item_type = json_get_str(item, "itemType")};
	buf_init(&ret->successes, LIMIT_IMPORT_TEXT);
	buf_init(&ret->failures, LIMIT_IMPORT_TEXT);
	struct import_carrying carrying = {NULL, find_kind(ret->item_type), ret, cwd};
	if (str_has_nul(cwd)) {
		import_report_failure(&carrying, STR_NONE, "detect", "cwd contains NUL");
		return;
	}
	bool has_sessions = str_is(ret->item_type, SESSIONS);
	if (!carrying.kind && !has_sessions) {
		import_report_failure(
			&carrying, STR_NONE, "import",
			"plugins and memories of other agents are not imported (plugins: codex plugin add)");
		return;
	}
	carrying.scope = get_scope(import, cwd.len && !has_sessions ? arena_cstr(&import->arena, cwd) : NULL, &err);
	if (carrying.scope && has_sessions)
		carry_sessions(import, &carrying, json_get(item, "details"));
	else if (carrying.scope)
		carry_all(&carrying, json_get(item, "details"));
	else
		import_report_failure(&carrying, STR_NONE, "detect", err.text);
	if (ret->successes.over || ret->failures.over) {
		buf_clear(&ret->successes);
		buf_clear(&ret->failures);
		import_report_failure(&carrying, STR_NONE, "report", "it was imported, but the report is too long");
	}
}
