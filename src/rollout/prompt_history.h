/* prompt_history.h — history.jsonl: the prompts of all sessions, for recall in a composer.
 *
 * One JSON object per line, {"session_id":…,"ts":…,"text":…}. The file is identified by its inode (log_id), an entry by
 * its line number (offset). Mode 0600; appended to under a lock, with a timeout of LIMIT_HISTORY_LOCK_MS. Owns:
 * nothing. Blocks for local file access. Any thread. Errors: ERR_limit (file over LIMIT_HISTORY_FILE), and those of
 * file access. */
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

/* Appends a prompt. If max_bytes > 0 and the file exceeds it, the oldest prompts are removed until four fifths
 * remain; the newest is kept. */
must_check int prompt_history_append(const char *home, const struct prompt_entry *entry, int64_t max_bytes,
                                     struct error *err);
/* Returns the inode and the number of lines; zeros if the file does not exist. */
void prompt_history_measure(const char *home, int64_t *ret_log_id, int64_t *ret_count);
/* Finds the entry with this number; false if the file has been replaced or has no such line. *ret lives in the
 * arena. */
bool prompt_history_find(const char *home, int64_t log_id, int64_t offset, struct arena *arena,
                         struct prompt_entry *ret);

/* Calls `each` with the texts in the last max_bytes of the file, oldest first. Lines that are damaged are skipped. */
void prompt_history_tail(const char *home, size_t max_bytes, void (*each)(struct str text, void *self), void *self);

#endif
