/* rollout_index.h — $CODEX_HOME/rollout_index.sqlite: a cache of what was read from rollouts.
 *
 * A row is valid as long as the file's size and times are those of the row. If the row is missing, or the database is
 * damaged, locked, read-only or cannot be opened, the file is read: the answer is the same, but slower. The database
 * may be deleted at any time.
 *
 * Owns: the database. Reference-counted. Thread: any, concurrently; blocking: use it on a worker. A NULL index contains
 * nothing. Errors: only those of rollouts are returned. Source: docs/rollouts.md "The index". */
#ifndef ROLLOUT_ROLLOUT_INDEX_H
#define ROLLOUT_ROLLOUT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "rollout/rollout_summary.h"

struct rollout_index;
struct stat;

#define ROLLOUT_INDEX_NAME "rollout_index.sqlite"

/* Creates an index; the database is opened when it is first used. */
struct rollout_index *rollout_index_create(const char *home);
struct rollout_index *rollout_index_ref(struct rollout_index *index);
void rollout_index_unref(struct rollout_index *index); /* NULL is a no-op */

/* As rollout_summary_read, but uses the index if it has the file. *ret_is_known (may be NULL) is set to whether it
 * had. */
must_check int rollout_index_summary(struct rollout_index *index, const char *path, struct arena *arena,
                                     struct rollout_summary *ret, bool *ret_is_known, struct error *err);

/* ---- words ---- */

/* Determines the sessions that cannot contain a phrase, ignoring the case of ASCII letters. Owned by the caller. */
struct rollout_index_search;
struct rollout_index_search *rollout_index_search_create(struct rollout_index *index, struct str words);
void rollout_index_search_destroy(struct rollout_index_search *search); /* NULL is a no-op */
/* True if the file does not contain the phrase; if false, the file must be read. */
bool rollout_index_search_excludes(const struct rollout_index_search *search, const char *path);

/* ---- filling it ---- */

/* Changes between begin and end form one transaction. begin creates the database if it does not exist, and rebuilds
 * a damaged one; false if it cannot be written. */
bool rollout_index_begin(struct rollout_index *index);
bool rollout_index_end(struct rollout_index *index);
/* True if the index has the current version of the file and, with with_text, its text. */
bool rollout_index_knows(struct rollout_index *index, const char *path, bool with_text);
/* Reads the beginning of the file and stores its summary. */
void rollout_index_learn(struct rollout_index *index, const char *path);
/* Stores the text of the file, unless the file has changed since `st` was read. Texts are separated by newlines. */
void rollout_index_learn_text(struct rollout_index *index, const char *path, const struct stat *st, struct str text);
/* Removes the rows of files that no longer exist. */
void rollout_index_sweep(struct rollout_index *index);
/* Records that all files of the folders with this state (rollout_listing.h) were looked at, so that the next process
 * need not do so again. Files that change afterwards are added when a request has read them. */
void rollout_index_set_complete(struct rollout_index *index, bool with_text, uint64_t folders);
/* True if that was recorded for the same state of the folders, which is not 0. */
bool rollout_index_is_complete(struct rollout_index *index, bool with_text, uint64_t folders);

/* ---- for people ---- */

struct rollout_index_state {
	bool exists;
	bool is_sound; /* all pages were read and their checksums match */
	uint64_t bytes, files, texts;
	const char *problem; /* why the index is not used; NULL: it is used */
};

/* Reads the whole database. */
void rollout_index_examine(struct rollout_index *index, struct rollout_index_state *ret);
/* Deletes the database. */
must_check int rollout_index_remove(struct rollout_index *index, struct error *err);

#endif
