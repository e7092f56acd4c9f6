/* prompt_history.h — history.jsonl: what the user said, in all sessions, for a composer to bring back.
 *
 * One JSON object a line, {"session_id":…,"ts":…,"text":…}; the file is its inode (log_id) and an entry is its
 * line (offset). Mode 0600, appended to under a lock that is waited for at most LIMIT_HISTORY_LOCK_MS.
 * Owns: nothing. Blocking, for as long as a local file takes. Any thread.
 * Errors: ERR_limit (file beyond LIMIT_HISTORY_FILE), and those of files. Source: core 10, protocol-v1 2. */
#ifndef ROLLOUT_PROMPT_HISTORY_H
#define ROLLOUT_PROMPT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct prompt_entry {
	struct str session_id;
	int64_t ts; /* Unix seconds */
	struct str text;
};

/* max_bytes > 0: oldest prompts go once the file is larger, down to four fifths; the newest stays. */
must_check int prompt_history_append(const char *home, const struct prompt_entry *entry, int64_t max_bytes,
                                     struct error *err);
/* Its inode and how many lines it has; zeros if there is no file. */
void prompt_history_measure(const char *home, int64_t *ret_log_id, int64_t *ret_count);
/* False if the file is another one now, or has no such line. *ret lives in the arena. */
bool prompt_history_find(const char *home, int64_t log_id, int64_t offset, struct arena *arena,
                         struct prompt_entry *ret);

#endif
