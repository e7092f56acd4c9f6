/* rollout_path.h — the path and the name of a session's file.
 *
 *   <home>/sessions/2026/11/21/rollout-2026-11-21T01-50-36-<thread id>.jsonl        local time
 *   <home>/sessions/…/rollout-<time>-<thread id>_<rollout id>.jsonl                 written by 0.169 on revert
 *   <home>/archived_sessions/<the same name>                                        and .jsonl.zst of both
 *
 * Any thread. */
#ifndef ROLLOUT_ROLLOUT_PATH_H
#define ROLLOUT_ROLLOUT_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct rollout_file_name {
	struct str time; /* for example "2026-11-21T01-50-36" */
	struct str thread_id;
	struct str rollout_id; /* distinguishes the files of a thread; for the first one it is the thread's id */
	bool is_compressed;
};

/* Returns the path, owned by the caller. thread_id must be a UUID. */
char *rollout_path(const char *home, int64_t started_at_ms, struct str thread_id);
/* Splits a file name without folders into slices; false if it is not the name of a rollout. */
bool rollout_path_parse(struct str file_name, struct rollout_file_name *ret);
/* Returns the CODEX_HOME of a path inside sessions/ or archived_sessions/, owned by the caller; NULL for other
 * paths. */
char *rollout_path_home(const char *path);

#endif
