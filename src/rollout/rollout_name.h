/* rollout_name.h — session_index.jsonl: the names that users give to sessions (core 10).
 * Append-only; a thread's last entry counts. rollout_list_find_name reads it, too. Blocking. */
#ifndef ROLLOUT_ROLLOUT_NAME_H
#define ROLLOUT_ROLLOUT_NAME_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* Appends {"id":…,"thread_name":…,"updated_at":…} in one write. */
must_check int rollout_name_set(const char *home, struct str thread_id, struct str name, struct error *err);

struct rollout_name_entry {
	struct str id, name;
	size_t at; /* in the file */
};

/* All names, for many look-ups. Owns what it has read; zeroed, it has none. Any thread, one at a time. */
struct rollout_names {
	/* private */
	VEC(struct rollout_name_entry) entries; /* by id, then by age */
	struct arena arena;
};

/* Damaged lines are passed over; a file that is not there, or cannot be read, has no names. */
void rollout_names_read(const char *home, struct rollout_names *ret);
/* STR_NONE if the thread has none. Borrowed. */
struct str rollout_names_find(const struct rollout_names *names, struct str thread_id);
void rollout_names_finish(struct rollout_names *names);

#endif
