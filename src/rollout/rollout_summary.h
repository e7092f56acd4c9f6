/* rollout_summary.h — what a list shows of a session: the beginning of its file, and when it was last written to.
 *
 * Owns: nothing; texts live in the caller's arena. Blocking: on a worker. Any thread.
 * Errors: those of files, ERR_invalid where no line says whose session it is. Source: app-server-wire 12. */
#ifndef ROLLOUT_ROLLOUT_SUMMARY_H
#define ROLLOUT_ROLLOUT_SUMMARY_H

#include "base/arena.h"
#include "base/error.h"
#include "rollout/rollout_meta.h"

struct rollout_name;

struct rollout_summary {
	struct rollout_meta meta;
	struct str path;
	struct str preview;                   /* what the user said first; STR_NONE: nothing yet */
	struct str model;                     /* of the first turn; STR_NONE: unknown */
	struct str effort;                    /* likewise */
	int64_t created_at_ms, updated_at_ms; /* Unix */
};

/* Reads no further than to the user's first message, at most LIMIT_ROLLOUT_SUMMARY. */
must_check int rollout_summary_read(const char *path, struct arena *arena, struct rollout_summary *ret,
                                    struct error *err);
/* When a file with this name was begun, Unix milliseconds: no look at the file is needed. */
int64_t rollout_summary_created(const struct rollout_name *name);

#endif
