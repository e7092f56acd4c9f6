/* Rows are written in batches of one transaction each, so that a kill loses at most one batch.
 *
 * A damaged database is removed and rebuilt, a limited number of times per process: if that does not help, the file
 * system is at fault, and files are read instead. */
#include "rollout/rollout_index_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rollout/rollout_limits.h"
enum { MOST_REMAKES = 3 };

#define SCHEMA_SQL                                                                                     \
	"CREATE TABLE file(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp BLOB NOT NULL, "   \
	"summary TEXT, has_text INTEGER NOT NULL DEFAULT 0);"                                          \
	"CREATE VIRTUAL TABLE said USING fts5(text, tokenize='trigram', detail='none', columnsize=0);" \
	"PRAGMA user_version=1;"

/* Creates the file with mode 0600, like rollouts, because SQLite would make it readable for others. Only a regular
 * file is touched. */
static bool make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno == EEXIST && file_is_regular(path));
}

static bool exec(struct rollout_index *index, const char *text)
{
	return index_is_done(index, index->lib->exec(index->db, text, NULL, NULL, NULL));
}

/* ---- creating and rebuilding ---- */

static bool is_replaced(const struct rollout_index *index)
{
	struct stat st;
	return index->db && (stat(index->path, &st) != 0 || st.st_ino != index->inode);
}

/* Rebuilds a damaged database, or one with the schema of another version. */
static bool remake(struct rollout_index *index)
{
	index_close(index);
	if (unlink(index->path) != 0 && errno != ENOENT)
		return false;
	return make_file(index->path) && index_open_file(index) && exec(index, SCHEMA_SQL);
}

static bool open_to_write(struct rollout_index *index)
{
	if (index->remakes > MOST_REMAKES || !index_load_library(index))
		return false;
	if (is_replaced(index))
		index_close(index);
	if (index->db)
		return true;
	if (!make_file(index->path)) {
		index->problem = "its file cannot be created";
		return false;
	}
	if (!index->is_damaged && index_open_file(index) && index_version(index) == INDEX_SCHEMA)
		return true;
	if (index->db && !index->is_damaged && index_version(index) < 0)
		return false; /* for example, it is locked */
	index->remakes += index->is_damaged;
	index->is_damaged = false;
	return remake(index);
}

bool rollout_index_begin(struct rollout_index *index)
{
	pthread_mutex_lock(&index->lock);
	bool is_begun = open_to_write(index) && exec(index, "BEGIN IMMEDIATE");
	if (is_begun)
		index->problem = NULL;
	pthread_mutex_unlock(&index->lock);
	return is_begun;
}

bool rollout_index_end(struct rollout_index *index)
{
	pthread_mutex_lock(&index->lock);
	bool is_kept = index->db && exec(index, "COMMIT");
	if (!is_kept && index->db)
		index->lib->exec(index->db, "ROLLBACK", NULL, NULL, NULL);
	pthread_mutex_unlock(&index->lock);
	return is_kept;
}

/* ---- rows ---- */

struct new_row {
	const char *path;
	struct index_stamp stamp;
	struct str summary; /* STR_NONE: not a session */
	struct str text;    /* STR_NONE: not known */
};

/* Removes the text that is stored under the row's current id. */
static bool drop_text(struct rollout_index *index, const char *path)
{
	sqlite3_stmt *find = index_statement(index, FIND);
	if (!find || !index_bind_str(index, find, 1, index_relative(index, path)))
		return false;
	if (!index_step(index, find))
		return index->db;
	bool has_text = index->lib->column_int64(find, 2);
	int64_t id = index->lib->column_int64(find, 3);
	index->lib->reset(find);
	sqlite3_stmt *drop = has_text ? index_statement(index, DROP_TEXT) : NULL;
	return !has_text ||
	       (drop && index_is_done(index, index->lib->bind_int64(drop, 1, id)) && index_run(index, drop));
}

static bool put_text(struct rollout_index *index, struct str text)
{
	int64_t id = index->lib->last_insert_rowid(index->db);
	sqlite3_stmt *it = index_statement(index, PUT_TEXT);
	return it && index_is_done(index, index->lib->bind_int64(it, 1, id)) && index_bind_str(index, it, 2, text) &&
	       index_run(index, it);
}

static bool put(struct rollout_index *index, const struct new_row *row)
{
	const struct rollout_sqlite *lib = index->lib;
	if (!index->db || !drop_text(index, row->path))
		return false;
	sqlite3_stmt *it = index_statement(index, PUT);
	if (!it || !index_bind_str(index, it, 1, index_relative(index, row->path)) ||
	    !index_is_done(index, lib->bind_blob(it, 2, &row->stamp, sizeof(row->stamp), SQLITE_TRANSIENT)) ||
	    !index_bind_str(index, it, 3, row->summary) ||
	    !index_is_done(index, lib->bind_int64(it, 4, row->text.ptr != NULL)) || !index_run(index, it))
		return false;
	return !row->text.ptr || put_text(index, row->text);
}

bool rollout_index_knows(struct rollout_index *index, const char *path, bool with_text)
{
	struct index_row row;
	struct index_stamp stamp;
	struct stat st;
	if (!index_stamp_file(path, &stamp, &st))
		return false;
	pthread_mutex_lock(&index->lock);
	bool is_known = index->db && index_find(index, path, &stamp, &row);
	if (is_known)
		index->lib->reset(row.it);
	pthread_mutex_unlock(&index->lock);
	return is_known && (row.has_text || !with_text);
}

/* Reads the summary. False if it must not be stored: that of a fork comes from another file, whose times are not
 * checked. */
static bool read_summary(const char *path, struct arena *arena, struct buf *text, struct new_row *row)
{
	struct rollout_summary summary;
	struct error err = {0};
	if (rollout_summary_read(path, arena, &summary, &err) != 0)
		return err.code == ERR_invalid && file_is_regular(path);
	if (summary.meta.base_rollout_id.ptr)
		return false;
	index_encode(&summary, text);
	row->summary = buf_str(text);
	return !text->over;
}

static bool is_unchanged(const char *path, const struct index_stamp *stamp)
{
	struct index_stamp now;
	struct stat st;
	return index_stamp_file(path, &now, &st) && memcmp(&now, stamp, sizeof(now)) == 0;
}

static void learn(struct rollout_index *index, struct new_row *row)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_ROLLOUT_INDEX_SUMMARY);
	if (!read_summary(row->path, &arena, &text, row) || !is_unchanged(row->path, &row->stamp))
		return;
	pthread_mutex_lock(&index->lock);
	put(index, row);
	pthread_mutex_unlock(&index->lock);
}

void rollout_index_learn(struct rollout_index *index, const char *path)
{
	struct new_row row = {.path = path};
	struct stat st;
	if (index_stamp_file(path, &row.stamp, &st))
		learn(index, &row);
}

/* The tokenizer stops at NUL, which search phrases cannot contain. */
void rollout_index_learn_text(struct rollout_index *index, const char *path, const struct stat *st, struct str text)
{
	struct new_row row = {.path = path, .stamp = index_stamp_of(st)};
	auto_free char *copy = str_dup(text.ptr ? text : STR(""));
	for (size_t i = 0; i < text.len; i++) {
		if (!copy[i])
			copy[i] = '\n';
	}
	row.text = str_n(copy, text.len);
	if (text.len <= LIMIT_ROLLOUT_INDEX_TEXT)
		learn(index, &row);
}

/* ---- files that no longer exist ---- */

struct gone {
	VEC(int64_t) ids;
};

static void list_gone(struct rollout_index *index, struct gone *gone)
{
	sqlite3_stmt *it = index_statement(index, PATHS);
	while (it && index_step(index, it)) {
		const char *name = (const char *)index->lib->column_text(it, 1);
		auto_free char *path = path_join(index->home, name ? name : "");
		if (!file_exists(path))
			vec_push(&gone->ids, index->lib->column_int64(it, 0));
	}
}

static bool drop_id(struct rollout_index *index, enum statement which, int64_t id)
{
	sqlite3_stmt *it = index->db ? index_statement(index, which) : NULL;
	return it && index_is_done(index, index->lib->bind_int64(it, 1, id)) && index_run(index, it);
}

void rollout_index_sweep(struct rollout_index *index)
{
	struct gone gone = {0};
	pthread_mutex_lock(&index->lock);
	if (index->db)
		list_gone(index, &gone);
	for (size_t i = 0; i < gone.ids.count && index->db; i++) {
		if (!drop_id(index, DROP_TEXT, gone.ids.items[i]) || !drop_id(index, DROP, gone.ids.items[i]))
			break;
	}
	pthread_mutex_unlock(&index->lock);
	vec_finish(&gone.ids);
}

/* ---- completeness ---- */

static const char *const complete_table = "CREATE TABLE IF NOT EXISTS complete(with_text INTEGER PRIMARY KEY, "
					  "folders INTEGER NOT NULL)";

void rollout_index_set_complete(struct rollout_index *index, bool with_text, uint64_t folders)
{
	auto_free char *put =
		xasprintf("INSERT OR REPLACE INTO complete VALUES(%d, %lld)", with_text, (long long)folders);
	pthread_mutex_lock(&index->lock);
	if (index->db && exec(index, complete_table))
		exec(index, put);
	pthread_mutex_unlock(&index->lock);
}

/* Databases of earlier versions have no such table: not an error, which would close them. */
static bool has_complete_table(struct rollout_index *index)
{
	sqlite3_stmt *it = NULL;
	int status = index->lib->prepare_v3(index->db, "SELECT 1 FROM sqlite_schema WHERE name = 'complete'", -1, 0,
	                                    &it, NULL);
	bool has = index_is_done(index, status) && index_step(index, it);
	index->lib->finalize(it);
	return has;
}

static bool reads_complete(struct rollout_index *index, bool with_text, uint64_t folders)
{
	sqlite3_stmt *it = has_complete_table(index) ? index_statement(index, COMPLETE) : NULL;
	if (!it || !index_is_done(index, index->lib->bind_int64(it, 1, with_text)) ||
	    !index_is_done(index, index->lib->bind_int64(it, 2, (int64_t)folders)) || !index_step(index, it))
		return false;
	index->lib->reset(it);
	return true;
}

bool rollout_index_is_complete(struct rollout_index *index, bool with_text, uint64_t folders)
{
	pthread_mutex_lock(&index->lock);
	bool is_complete = folders && index_is_open(index) && reads_complete(index, with_text, folders);
	pthread_mutex_unlock(&index->lock);
	return is_complete;
}

/* ---- for codex doctor ---- */

/* Runs SQLite's integrity check and compares the full-text table with the texts. */
static bool is_sound(struct rollout_index *index)
{
	sqlite3_stmt *it = NULL;
	int status = index->lib->prepare_v3(index->db, "PRAGMA quick_check(1)", -1, 0, &it, NULL);
	bool is_ok = status == SQLITE_OK && index_step(index, it) &&
	             str_is(str_of((const char *)index->lib->column_text(it, 0)), "ok");
	index->lib->finalize(it);
	return is_ok && index->db;
}

static void count_rows(struct rollout_index *index, struct rollout_index_state *ret)
{
	sqlite3_stmt *it = index_statement(index, COUNT);
	if (!it || !index_step(index, it))
		return;
	ret->files = (uint64_t)index->lib->column_int64(it, 0);
	ret->texts = (uint64_t)index->lib->column_int64(it, 1);
	index->lib->reset(it);
}

void rollout_index_examine(struct rollout_index *index, struct rollout_index_state *ret)
{
	struct stat st;
	*ret = (struct rollout_index_state){.exists = lstat(index->path, &st) == 0};
	ret->bytes = ret->exists ? (uint64_t)st.st_size : 0;
	pthread_mutex_lock(&index->lock);
	index->problem = NULL;
	if (ret->exists && index_is_open(index)) {
		ret->is_sound = is_sound(index);
		if (index->db)
			count_rows(index, ret);
	}
	ret->problem = index->problem;
	pthread_mutex_unlock(&index->lock);
}

int rollout_index_remove(struct rollout_index *index, struct error *err)
{
	pthread_mutex_lock(&index->lock);
	index_close(index);
	index->is_tried = index->is_damaged = false;
	bool is_gone = unlink(index->path) == 0 || errno == ENOENT;
	int status = is_gone ? 0 : error_sys(err, errno, "cannot remove %s", index->path);
	pthread_mutex_unlock(&index->lock);
	return status;
}
