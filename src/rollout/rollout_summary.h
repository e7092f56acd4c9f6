/* rollout_summary.h — the data of a session that lists show: the beginning of its file, and the time of the last write.
 *
 * Owns: nothing; texts live in the caller's arena. Blocking: on a worker. Any thread. Errors: those of file access,
 * ERR_invalid without a session_meta line. */
#ifndef ROLLOUT_ROLLOUT_SUMMARY_H
#define ROLLOUT_ROLLOUT_SUMMARY_H

#include "base/arena.h"
#include "base/error.h"
#include "rollout/rollout_meta.h"

struct rollout_file_name;

struct rollout_summary {
	struct rollout_meta meta;
	struct str path;
	struct str preview;                   /* the user's first message; STR_NONE without one */
	struct str model;                     /* the model of the first turn; STR_NONE: unknown */
	struct str effort;                    /* the effort of the first turn; STR_NONE: unknown */
	int64_t created_at_ms, updated_at_ms; /* Unix times */
};

/* Reads a file up to the user's first message, at most LIMIT_ROLLOUT_SUMMARY bytes. */
must_check int rollout_summary_read(const char *path, struct arena *arena, struct rollout_summary *ret,
                                    struct error *err);
/* Returns the creation time that the file's name gives, in Unix milliseconds. */
int64_t rollout_summary_created(const struct rollout_file_name *name);

#endif
