/* rollout_index_priv.h — the inside of the index, for reading (rollout_index.c) and filling it (rollout_index_fill.c).
 * Everything here is called under the index's lock. */
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
	FIND,       /* stamp, summary, has_text, id of a path */
	PUT,        /* path, stamp, summary, has_text: a row of a new id in place of the old one */
	PUT_TEXT,   /* id, text */
	DROP_TEXT,  /* id */
	LACK_WORDS, /* path and stamp of rows whose text does not have the trigrams, by path */
	LACK_CHARS, /* the same for a few characters */
	PATHS,      /* all paths, and their ids */
	DROP,       /* id */
	COUNT,      /* of rows, and of those with text */
	STATEMENTS,
};

struct index_stamp {
	int64_t size, changed_s, changed_ns, moved_s, moved_ns;
};

struct rollout_index {
	atomic_int refs;
	char *home, *path;
	pthread_mutex_t lock; /* of all that follows */
	const struct rollout_sqlite *lib;
	sqlite3 *db; /* NULL: not open */
	sqlite3_stmt *statements[STATEMENTS];
	bool is_tried;    /* opening it failed: not again, until it is filled */
	bool has_opened;  /* db could be read */
	bool is_damaged;  /* it is to be made anew … */
	unsigned remakes; /* … which has been done so often */
	uint64_t aloof_until;
	ino_t inode; /* of the file that is open */
	const char *problem;
};

struct index_row {
	sqlite3_stmt *it; /* to be reset */
	int64_t id;
	bool has_text;
	struct str summary; /* the statement's */
};

/* The row of the file, if it is one of the file as it is now; its statement is to be reset. */
bool index_find(struct rollout_index *index, const char *path, const struct index_stamp *stamp, struct index_row *ret);
struct index_stamp index_stamp_of(const struct stat *st);
bool index_stamp_file(const char *path, struct index_stamp *ret, struct stat *st);
struct str index_relative(const struct rollout_index *index, const char *path);
void index_encode(struct rollout_summary *summary, struct buf *out);

bool index_load_library(struct rollout_index *index);
/* For who reads: what is there. False: it is not to be asked now. */
bool index_is_open(struct rollout_index *index);
bool index_open_file(struct rollout_index *index);
void index_close(struct rollout_index *index);
int64_t index_version(struct rollout_index *index);

/* NULL: it failed, and the index may be closed. */
sqlite3_stmt *index_statement(struct rollout_index *index, enum statement which);
bool index_bind_str(struct rollout_index *index, sqlite3_stmt *it, int at, struct str text);
/* True: a row, which is to be read and, if it is the last one that is wanted, reset. */
bool index_step(struct rollout_index *index, sqlite3_stmt *it);
/* A statement without rows. */
bool index_run(struct rollout_index *index, sqlite3_stmt *it);
/* False: status is a failure, and what follows from that has been done. */
bool index_is_done(struct rollout_index *index, int status);

#endif
