/* rollout_index.h — $CODEX_HOME/rollout_index.sqlite: what was read of rollouts, so that it need not be read again.
 *
 * A cache, and nothing else: what it knows of a file counts as long as the file's size and times are those that it
 * was read with. Where it knows nothing, is damaged, locked, read-only, gone or cannot be opened, the file is read: the
 * answer is the same, and comes later. It may be deleted at any time.
 *
 * Owns: the database. Counted. Thread: any, many; blocking: on a worker. An index of NULL is one that knows nothing.
 * Errors: only those of rollouts come out. Source: docs/rollouts.md "The index". */
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

/* Opens nothing yet. */
struct rollout_index *rollout_index_create(const char *home);
struct rollout_index *rollout_index_ref(struct rollout_index *index);
void rollout_index_unref(struct rollout_index *index); /* NULL is fine */

/* rollout_summary_read, from the index if that knows the file; *ret_is_known (or NULL): it did. */
must_check int rollout_index_summary(struct rollout_index *index, const char *path, struct arena *arena,
                                     struct rollout_summary *ret, bool *ret_is_known, struct error *err);

/* ---- words ---- */

/* Which sessions cannot hold some words; ASCII letters are the same in both cases. Owned by who searches. */
struct rollout_index_search;
struct rollout_index_search *rollout_index_search_create(struct rollout_index *index, struct str words);
void rollout_index_search_destroy(struct rollout_index_search *search); /* NULL is fine */
/* True: nobody said that in this file, as it is now. False: it has to be looked at. */
bool rollout_index_search_excludes(const struct rollout_index_search *search, const char *path);

/* ---- filling it ---- */

/* Changes between begin and end are written together, or not at all. Begin makes the database if it is not there, and
 * anew if it is damaged; false: it cannot be written. */
bool rollout_index_begin(struct rollout_index *index);
bool rollout_index_end(struct rollout_index *index);
/* Whether it knows the file as it is, and (with_text) what was said in it. */
bool rollout_index_knows(struct rollout_index *index, const char *path, bool with_text);
/* Reads the beginning of the file and keeps that. */
void rollout_index_learn(struct rollout_index *index, const char *path);
/* Keeps what was said in the file, if that is still as `st` says. Texts are split by newlines. */
void rollout_index_learn_text(struct rollout_index *index, const char *path, const struct stat *st, struct str text);
/* Forgets files that are not there any more. */
void rollout_index_sweep(struct rollout_index *index);

/* ---- for people ---- */

struct rollout_index_state {
	bool exists;
	bool is_sound; /* every page was read, and is as it was written */
	uint64_t bytes, files, texts;
	const char *problem; /* why it is not used; NULL: it is */
};

/* Reads all of it. */
void rollout_index_examine(struct rollout_index *index, struct rollout_index_state *ret);
/* Removes the file. */
must_check int rollout_index_remove(struct rollout_index *index, struct error *err);

#endif
