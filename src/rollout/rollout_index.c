/* There is one row per file: its size and times when it was read, the summary that lists show and, after the first
 * search, its text in a full-text table of trigrams. Requests only read; rows are written in the background. A row
 * whose file has changed is ignored: the index cannot be wrong, only incomplete, and every failure means "not
 * known".
 *
 * A trigram match is a hint: files that the table excludes are excluded, the others are read. The table stores no
 * positions and folds more than ASCII letters, so it yields false positives but no false negatives.
 *
 * A failure other than SQLITE_BUSY closes the database until the next fill, which rebuilds it. After SQLITE_BUSY it
 * is not used for a moment, so that a lock that is never released costs one wait instead of one per file. */
#include "rollout/rollout_index.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "rollout/rollout_index_priv.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_path.h"

enum {
	LEAST_WORDS = 3,    /* characters of a trigram */
	MOST_TRIGRAMS = 64, /* per search: more of them exclude hardly more files */
};

#define SETTINGS_SQL                                                                                      \
	"PRAGMA page_size=4096; PRAGMA trusted_schema=OFF; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY;" \
	"PRAGMA cache_size=-2048; PRAGMA synchronous=NORMAL; PRAGMA max_page_count=262144;"

#define LACK "SELECT path, stamp FROM file WHERE has_text AND id NOT IN (SELECT rowid FROM said WHERE "
static const char *const sql[STATEMENTS] = {
	[FIND] = "SELECT stamp, summary, has_text, id FROM file WHERE path = ?1",
	[PUT] = "INSERT OR REPLACE INTO file(path, stamp, summary, has_text) VALUES(?1, ?2, ?3, ?4)",
	[PUT_TEXT] = "INSERT INTO said(rowid, text) VALUES(?1, ?2)",
	[DROP_TEXT] = "DELETE FROM said WHERE rowid = ?1",
	[LACK_WORDS] = LACK "said MATCH ?1) ORDER BY path",
	[LACK_CHARS] = LACK "text LIKE ?1 ESCAPE '\\') ORDER BY path",
	[PATHS] = "SELECT id, path FROM file",
	[DROP] = "DELETE FROM file WHERE id = ?1",
	[COMPLETE] = "SELECT 1 FROM complete WHERE with_text >= ?1 AND folders = ?2",
	[COUNT] = "SELECT count(*), sum(has_text) FROM file",
};

/* ---- opening and closing ---- */

struct rollout_index *rollout_index_create(const char *home)
{
	struct rollout_index *index = xnew(struct rollout_index);
	atomic_init(&index->refs, 1);
	index->home = xstrdup(home);
	index->path = path_join(home, ROLLOUT_INDEX_NAME);
	pthread_mutex_init(&index->lock, NULL);
	return index;
}

struct rollout_index *rollout_index_ref(struct rollout_index *index)
{
	atomic_fetch_add(&index->refs, 1);
	return index;
}

void index_close(struct rollout_index *index)
{
	for (size_t i = 0; i < STATEMENTS && index->lib; i++) {
		index->lib->finalize(index->statements[i]);
		index->statements[i] = NULL;
	}
	if (index->db)
		/* closes the database when other threads have ended their statements */
		index->lib->close_v2(index->db);
	index->db = NULL;
	index->has_opened = false;
}

void rollout_index_unref(struct rollout_index *index)
{
	if (!index || atomic_fetch_sub(&index->refs, 1) > 1)
		return;
	index_close(index);
	pthread_mutex_destroy(&index->lock);
	free(index->home);
	free(index->path);
	free(index);
}

static bool is_busy(int status)
{
	int kind = status & 0xff;
	return kind == SQLITE_BUSY || kind == SQLITE_LOCKED;
}

/* True for errors that leave the database readable. */
static bool is_refusal(int status)
{
	int kind = status & 0xff;
	return kind == SQLITE_READONLY || kind == SQLITE_FULL || kind == SQLITE_PERM || kind == SQLITE_CANTOPEN;
}

/* Handles a failure; always returns false. */
static bool fail(struct rollout_index *index, int status)
{
	if (is_busy(status))
		index->aloof_until = clock_now_ms() + LIMIT_ROLLOUT_INDEX_PAUSE_MS;
	if (is_busy(status) || (is_refusal(status) && index->has_opened))
		return false;
	index_close(index);
	index->is_tried = true;
	index->is_damaged = !is_refusal(status);
	index->problem = index->is_damaged ? "it is damaged" : "it cannot be opened";
	return false;
}

bool index_is_done(struct rollout_index *index, int status)
{
	return status == SQLITE_OK || status == SQLITE_DONE || status == SQLITE_ROW || fail(index, status);
}

sqlite3_stmt *index_statement(struct rollout_index *index, enum statement which)
{
	if (!index->statements[which] &&
	    !index_is_done(index, index->lib->prepare_v3(index->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT,
	                                                 &index->statements[which], NULL)))
		return NULL;
	return index->statements[which];
}

/* Executes a step; true if it yields a row. The caller must reset the statement after the last row that it reads. */
bool index_step(struct rollout_index *index, sqlite3_stmt *it)
{
	int status = index->lib->step(it);
	if (status != SQLITE_ROW)
		index->lib->reset(it);
	index_is_done(index, status);
	return status == SQLITE_ROW;
}

/* Runs a statement that yields no rows. */
bool index_run(struct rollout_index *index, sqlite3_stmt *it)
{
	int status = index->lib->step(it);
	index->lib->reset(it);
	return index_is_done(index, status);
}

bool index_bind_str(struct rollout_index *index, sqlite3_stmt *it, int at, struct str text)
{
	int status = index->lib->bind_text(it, at, text.ptr, (int)text.len, SQLITE_TRANSIENT);
	return index_is_done(index, status);
}

int64_t index_version(struct rollout_index *index)
{
	sqlite3_stmt *it = NULL;
	int64_t version = -1;
	int status = index->lib->prepare_v3(index->db, "PRAGMA user_version", -1, 0, &it, NULL);
	if (status == SQLITE_OK && index_step(index, it))
		version = index->lib->column_int64(it, 0);
	index->lib->finalize(it);
	return version;
}

bool index_open_file(struct rollout_index *index)
{
	struct stat st;
	int status = rollout_sqlite_open(index->lib, index->path, &index->db);
	index->inode = stat(index->path, &st) == 0 ? st.st_ino : 0;
	if (status == SQLITE_OK) {
		index->lib->busy_timeout(index->db, LIMIT_ROLLOUT_INDEX_BUSY_MS);
		status = index->lib->exec(index->db, SETTINGS_SQL, NULL, NULL, NULL);
	}
	index->has_opened = index_is_done(index, status);
	return index->has_opened;
}

bool index_load_library(struct rollout_index *index)
{
	if (!index->lib)
		index->lib = rollout_sqlite_load(NULL);
	if (!index->lib)
		index->problem = "libsqlite3 is not installed, or too old";
	return index->lib;
}

/* Opens the database for reading. The caller holds the lock. */
bool index_is_open(struct rollout_index *index)
{
	if (index->db)
		return clock_now_ms() >= index->aloof_until;
	if (index->is_tried)
		return false;
	index->is_tried = true;
	if (!file_is_regular(index->path) || !index_load_library(index) || !index_open_file(index))
		return false;
	if (index_version(index) == INDEX_SCHEMA)
		return true;
	index_close(index);
	return false;
}

/* ---- rows ---- */

struct index_stamp index_stamp_of(const struct stat *st)
{
	return (struct index_stamp){st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec, st->st_ctim.tv_sec,
	                            st->st_ctim.tv_nsec};
}

/* Returns the path relative to the home, as rows store it, because the home may be moved. */
struct str index_relative(const struct rollout_index *index, const char *path)
{
	struct str text = str_of(path);
	if (str_cut_prefix(&text, index->home))
		str_cut_prefix(&text, "/");
	return text;
}

/* Finds the row of a file, provided that the file has not changed. */
bool index_find(struct rollout_index *index, const char *path, const struct index_stamp *stamp, struct index_row *ret)
{
	*ret = (struct index_row){.it = index_statement(index, FIND)};
	if (!ret->it || !index_bind_str(index, ret->it, 1, index_relative(index, path)) || !index_step(index, ret->it))
		return false;
	const struct rollout_sqlite *lib = index->lib;
	const void *found = lib->column_blob(ret->it, 0);
	bool is_same =
		found && lib->column_bytes(ret->it, 0) == sizeof(*stamp) && memcmp(found, stamp, sizeof(*stamp)) == 0;
	const char *summary = (const char *)lib->column_text(ret->it, 1);
	ret->summary = str_n(summary, summary ? (size_t)lib->column_bytes(ret->it, 1) : 0);
	ret->has_text = lib->column_int64(ret->it, 2);
	ret->id = lib->column_int64(ret->it, 3);
	if (!is_same)
		lib->reset(ret->it);
	return is_same;
}

bool index_stamp_file(const char *path, struct index_stamp *ret, struct stat *st)
{
	if (stat(path, st) != 0 || !S_ISREG(st->st_mode))
		return false;
	*ret = index_stamp_of(st);
	return true;
}

/* ---- summaries ---- */

/* Lists the texts that lists show, in the order of the row; a resume reads the others from the file. */
static void list_texts(struct rollout_summary *summary, struct str *texts[], size_t *count)
{
	struct rollout_meta *meta = &summary->meta;
	struct str *all[] = {&meta->thread_id,      &meta->timestamp,  &meta->cwd,        &meta->originator,
	                     &meta->cli_version,    &meta->subagent,   &meta->nickname,   &meta->model_provider,
	                     &meta->forked_from_id, &meta->git_commit, &meta->git_branch, &meta->git_url,
	                     &summary->preview,     &summary->model,   &summary->effort};
	memcpy(texts, all, sizeof(all));
	*count = countof(all);
}

enum { MOST_TEXTS = 16 };

void index_encode(struct rollout_summary *summary, struct buf *out)
{
	struct str *texts[MOST_TEXTS];
	size_t count;
	struct json_writer w = json_writer(out);
	list_texts(summary, texts, &count);
	jw_array(&w);
	jw_i64(&w, summary->meta.source);
	jw_bool(&w, summary->meta.is_subagent);
	jw_bool(&w, summary->meta.is_paginated);
	for (size_t i = 0; i < count; i++)
		jw_str(&w, *texts[i]);
	jw_array_end(&w);
}

static bool decode(struct str text, struct arena *arena, struct rollout_summary *ret)
{
	struct str *texts[MOST_TEXTS];
	size_t count;
	int64_t source;
	const struct json *it = json_parse(arena, text, NULL);
	if (!it || it->type != JSON_array || !json_to_i64(json_at(it, 0), &source))
		return false;
	ret->meta.source = (enum session_source)source;
	json_to_bool(json_at(it, 1), &ret->meta.is_subagent);
	json_to_bool(json_at(it, 2), &ret->meta.is_paginated);
	list_texts(ret, texts, &count);
	it = json_at(it, 3);
	for (size_t i = 0; i < count; i++, it = it->next) {
		if (!it)
			return false;
		json_to_str(it, texts[i]);
	}
	return true;
}

/* Fills the summary as reading the file would, except for values that are derived from its name and times. */
static bool recall(struct rollout_index *index, const char *path, const struct index_stamp *stamp, struct arena *arena,
                   struct rollout_summary *ret, bool *ret_is_none)
{
	struct index_row row;
	*ret = (struct rollout_summary){0};
	if (!index_find(index, path, stamp, &row))
		return false;
	*ret_is_none = !row.summary.ptr;
	struct str text = arena_str(arena, row.summary);
	index->lib->reset(row.it);
	return *ret_is_none || decode(text, arena, ret);
}

static void date(const char *path, const struct stat *st, struct arena *arena, struct rollout_summary *summary)
{
	struct rollout_file_name name;
	summary->path = arena_str(arena, str_of(path));
	summary->updated_at_ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
	summary->created_at_ms =
		rollout_path_parse(path_name(path), &name) ? rollout_summary_created(&name) : summary->updated_at_ms;
}

int rollout_index_summary(struct rollout_index *index, const char *path, struct arena *arena,
                          struct rollout_summary *ret, bool *ret_is_known, struct error *err)
{
	struct index_stamp stamp;
	struct stat st;
	bool is_known = false, is_none = false;
	if (index && index_stamp_file(path, &stamp, &st)) {
		pthread_mutex_lock(&index->lock);
		is_known = index_is_open(index) && recall(index, path, &stamp, arena, ret, &is_none);
		pthread_mutex_unlock(&index->lock);
	}
	if (ret_is_known)
		*ret_is_known = is_known;
	if (!is_known)
		return rollout_summary_read(path, arena, ret, err);
	if (is_none)
		return error_set(err, ERR_invalid, "%s: no line has the session's id", path);
	date(path, &st, arena, ret);
	return 0;
}

/* ---- full-text search ---- */

struct lacking {
	struct str path;
	struct index_stamp stamp;
};

struct rollout_index_search {
	struct rollout_index *index;
	struct arena arena;
	VEC(struct lacking) files; /* files that lack the trigrams, sorted by path */
};

static size_t char_len(struct str text)
{
	size_t len = text_utf8_len(text);
	return len ? len : 1;
}

/* Writes "abc" AND "bcd" …; false if there is no trigram. */
static bool write_trigrams(struct str words, struct buf *out)
{
	for (size_t n = 0; n < MOST_TRIGRAMS; n++) {
		struct str rest = words;
		size_t chars = 0;
		for (; chars < LEAST_WORDS && rest.len; chars++)
			rest = str_skip(rest, char_len(rest));
		if (chars < LEAST_WORDS)
			break;
		buf_append_c(out, n ? " AND \"" : "\"");
		for (const char *it = words.ptr; it < rest.ptr; it++) {
			if (*it == '"')
				buf_append_char(out, '"');
			buf_append_char(out, *it);
		}
		buf_append_char(out, '"');
		words = str_skip(words, char_len(words));
	}
	return out->len > 0;
}

static void write_pattern(struct str words, struct buf *out)
{
	buf_append_char(out, '%');
	for (size_t i = 0; i < words.len; i++) {
		if (strchr("%_\\", words.ptr[i]))
			buf_append_char(out, '\\');
		buf_append_char(out, words.ptr[i]);
	}
	buf_append_char(out, '%');
}

static void keep_row(struct rollout_index_search *search, sqlite3_stmt *it)
{
	const struct rollout_sqlite *lib = search->index->lib;
	const void *path = lib->column_text(it, 0), *stamp = lib->column_blob(it, 1);
	struct lacking lacking;
	if (!path || !stamp || lib->column_bytes(it, 1) != sizeof(lacking.stamp))
		return;
	lacking.path = arena_str(&search->arena, str_n(path, (size_t)lib->column_bytes(it, 0)));
	memcpy(&lacking.stamp, lib->column_blob(it, 1), sizeof(lacking.stamp));
	vec_push(&search->files, lacking);
}

/* Runs as one statement, for a consistent snapshot; false on failure. */
static bool list_lacking(struct rollout_index_search *search, sqlite3_stmt *it)
{
	int status;
	while ((status = search->index->lib->step(it)) == SQLITE_ROW)
		keep_row(search, it);
	search->index->lib->reset(it);
	return index_is_done(search->index, status);
}

static bool find_lacking(struct rollout_index_search *search, struct str words)
{
	struct rollout_index *index = search->index;
	auto_buf struct buf query;
	buf_init(&query, LIMIT_ROLLOUT_INDEX_WORDS * 8);
	bool has_trigrams = write_trigrams(words, &query);
	if (!has_trigrams)
		write_pattern(words, &query);
	if (query.over || !index_is_open(index))
		return false;
	sqlite3_stmt *it = index_statement(index, has_trigrams ? LACK_WORDS : LACK_CHARS);
	return it && index_bind_str(index, it, 1, buf_str(&query)) && list_lacking(search, it);
}

struct rollout_index_search *rollout_index_search_create(struct rollout_index *index, struct str words)
{
	struct rollout_index_search *search = xnew(struct rollout_index_search);
	if (!index || words.len > LIMIT_ROLLOUT_INDEX_WORDS || str_find_char(words, '\0') >= 0 || !text_is_utf8(words))
		return search;
	search->index = rollout_index_ref(index);
	pthread_mutex_lock(&index->lock);
	if (!find_lacking(search, words))
		search->files.count = 0;
	pthread_mutex_unlock(&index->lock);
	return search;
}

void rollout_index_search_destroy(struct rollout_index_search *search)
{
	if (!search)
		return;
	rollout_index_unref(search->index);
	arena_finish(&search->arena);
	vec_finish(&search->files);
	free(search);
}

static int compare_paths(const void *a, const void *b)
{
	const struct lacking *left = a, *right = b;
	return str_compare(left->path, right->path);
}

bool rollout_index_search_excludes(const struct rollout_index_search *search, const char *path)
{
	struct lacking key;
	struct stat st;
	if (!search->files.count)
		return false;
	key.path = index_relative(search->index, path);
	const struct lacking *found =
		bsearch(&key, search->files.items, search->files.count, sizeof(key), compare_paths);
	return found && index_stamp_file(path, &key.stamp, &st) &&
	       memcmp(&found->stamp, &key.stamp, sizeof(key.stamp)) == 0;
}
