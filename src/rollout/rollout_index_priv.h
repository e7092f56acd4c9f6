/* rollout_index_priv.h — shared by rollout_index.c (reading) and rollout_index_fill.c (filling). All functions are
 * called under the index's lock. */
#ifndef ROLLOUT_ROLLOUT_INDEX_PRIV_H
#define ROLLOUT_ROLLOUT_INDEX_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "rollout/rollout_index.h"
#include "rollout/rollout_sqlite.h"

enum { INDEX_SCHEMA = 1 };

enum statement {
	FIND,       /* stamp, summary, has_text and id by path */
	PUT,        /* path, stamp, summary, has_text: replaces the row; the id changes */
	PUT_TEXT,   /* id, text */
	DROP_TEXT,  /* id */
	LACK_WORDS, /* path and stamp of the rows whose text lacks the trigrams, by path */
	LACK_CHARS, /* the same for phrases that are too short for a trigram */
	PATHS,      /* all paths with their ids */
	DROP,       /* id */
	COUNT,      /* number of rows, and of those with text */
	STATEMENTS,
};

struct index_stamp {
	int64_t size, changed_s, changed_ns, moved_s, moved_ns;
};

struct rollout_index {
	atomic_int refs;
	char *home, *path;
	pthread_mutex_t lock; /* protects all following fields */
	const struct rollout_sqlite *lib;
	sqlite3 *db; /* NULL: not open */
	sqlite3_stmt *statements[STATEMENTS];
	bool is_tried;    /* opening failed: not tried again until the next fill */
	bool has_opened;  /* db was readable */
	bool is_damaged;  /* it must be rebuilt … */
	unsigned remakes; /* … which has happened so many times */
	uint64_t aloof_until;
	ino_t inode; /* of the open file */
	const char *problem;
};

struct index_row {
	sqlite3_stmt *it; /* the caller must reset it */
	int64_t id;
	bool has_text;
	struct str summary; /* borrowed from the statement */
};

/* Finds the row of a file, if the file has not changed; the caller must reset its statement. */
bool index_find(struct rollout_index *index, const char *path, const struct index_stamp *stamp, struct index_row *ret);
struct index_stamp index_stamp_of(const struct stat *st);
bool index_stamp_file(const char *path, struct index_stamp *ret, struct stat *st);
struct str index_relative(const struct rollout_index *index, const char *path);
void index_encode(struct rollout_summary *summary, struct buf *out);

bool index_load_library(struct rollout_index *index);
/* Opens the database for reading. False if it must not be used now. */
bool index_is_open(struct rollout_index *index);
bool index_open_file(struct rollout_index *index);
void index_close(struct rollout_index *index);
int64_t index_version(struct rollout_index *index);

/* NULL on failure; the index may then be closed. */
sqlite3_stmt *index_statement(struct rollout_index *index, enum statement which);
bool index_bind_str(struct rollout_index *index, sqlite3_stmt *it, int at, struct str text);
/* True if there is a row. The caller must reset the statement after the last row that it reads. */
bool index_step(struct rollout_index *index, sqlite3_stmt *it);
/* Runs a statement without rows. */
bool index_run(struct rollout_index *index, sqlite3_stmt *it);
/* False if status is a failure, which is then handled. */
bool index_is_done(struct rollout_index *index, int status);

#endif
