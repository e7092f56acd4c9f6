/* rollout_path.h — where the file of a session lies, and what its name says.
 *
 *   <home>/sessions/2026/11/21/rollout-2026-11-21T01-50-36-<thread id>.jsonl        local time
 *   <home>/sessions/…/rollout-<time>-<thread id>_<rollout id>.jsonl                 written by 0.169 on revert
 *   <home>/archived_sessions/<the same name>                                        and .jsonl.zst of both
 *
 * Any thread. Source: core 10, app-server-wire 11 and 20. */
#ifndef ROLLOUT_ROLLOUT_PATH_H
#define ROLLOUT_ROLLOUT_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct rollout_name {
	struct str time; /* "2026-11-21T01-50-36" */
	struct str thread_id;
	struct str rollout_id; /* which of a thread's files; the thread's id for its first */
	bool is_compressed;
};

/* Owned. thread_id must be a UUID. */
char *rollout_path(const char *home, int64_t started_at_ms, struct str thread_id);
/* Slices of a file name without folders; false if it is no rollout's. */
bool rollout_path_parse(struct str file_name, struct rollout_name *ret);
/* The CODEX_HOME that a path inside sessions/ or archived_sessions/ belongs to; owned, NULL elsewhere. */
char *rollout_path_home(const char *path);

#endif
