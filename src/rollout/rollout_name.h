/* rollout_name.h — session_index.jsonl: the names that users give to sessions (core 10).
 * Append-only; a thread's last entry counts. rollout_list_find_name reads it. Owns: nothing. Blocking. */
#ifndef ROLLOUT_ROLLOUT_NAME_H
#define ROLLOUT_ROLLOUT_NAME_H

#include "base/str.h"

struct error;

/* Appends {"id":…,"thread_name":…,"updated_at":…} in one write. */
int rollout_name_set(const char *home, struct str thread_id, struct str name, struct error *err);

#endif
