/* rollout_name.h — session_index.jsonl: the names that users give to sessions.
 *
 * Append-only; the last entry of a thread counts. rollout_list_find_name reads the same file. Blocking. */
#ifndef ROLLOUT_ROLLOUT_NAME_H
#define ROLLOUT_ROLLOUT_NAME_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* Appends {"id":…,"thread_name":…,"updated_at":…} with one write. */
must_check int rollout_name_set(const char *home, struct str thread_id, struct str name, struct error *err);

struct rollout_name_entry {
	struct str id, name;
	size_t at; /* the entry's offset in the file */
};

/* All names, for repeated look-ups. Owns the text of the file; an all-zero struct is empty. Any thread, one at a
 * time. */
struct rollout_names {
	/* private */
	VEC(struct rollout_name_entry) entries; /* sorted by id, then by age */
	struct arena arena;
};

/* Reads the names. Damaged lines are skipped; a file that does not exist or cannot be read contains no names. */
void rollout_names_read(const char *home, struct rollout_names *ret);
/* Returns the thread's name, borrowed; STR_NONE if it has none. */
struct str rollout_names_find(const struct rollout_names *names, struct str thread_id);
void rollout_names_finish(struct rollout_names *names);

#endif
