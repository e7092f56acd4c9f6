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
	FIND,       /* finds stamp, summary, has_text and id by path */
	PUT,        /* replaces a row: path, stamp, summary, has_text; the id changes */
	PUT_TEXT,   /* stores a text: id, text */
	DROP_TEXT,  /* removes a text: id */
	LACK_WORDS, /* path and stamp of rows whose text lacks the trigrams, by path */
	LACK_CHARS, /* as LACK_WORDS, for phrases that are too short for a trigram */
	PATHS,      /* all paths with their ids */
	DROP,       /* removes a row: id */
	COMPLETE,   /* a row if complete: with_text, state of the folders */
	COUNT,      /* number of rows, and of rows with text */
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
	bool is_tried;    /* opening failed and is not tried again until the next fill */
	bool has_opened;  /* db could be read */
	bool is_damaged;  /* db must be rebuilt */
	unsigned remakes; /* number of rebuilds so far */
	uint64_t aloof_until;
	ino_t inode; /* inode of the open file */
	const char *problem;
};

struct index_row {
	sqlite3_stmt *it; /* the statement, which the caller must reset */
	int64_t id;
	bool has_text;
	struct str summary; /* borrowed from the statement */
};

/* Finds the row of a file, provided that the file has not changed; the caller must reset its statement. */
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

/* Returns NULL on failure; the index may then be closed. */
sqlite3_stmt *index_statement(struct rollout_index *index, enum statement which);
bool index_bind_str(struct rollout_index *index, sqlite3_stmt *it, int at, struct str text);
/* Executes a step; true if it yields a row. The caller must reset the statement after the last row that it reads. */
bool index_step(struct rollout_index *index, sqlite3_stmt *it);
/* Runs a statement that yields no rows. */
bool index_run(struct rollout_index *index, sqlite3_stmt *it);
/* False if status is a failure, which is handled here. */
bool index_is_done(struct rollout_index *index, int status);

#endif
