/* rollout_limits.h — the limits of stored sessions. Sizes in bytes, times in milliseconds. */
#ifndef ROLLOUT_ROLLOUT_LIMITS_H
#define ROLLOUT_ROLLOUT_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_ROLLOUT_OUTPUT = 64 * KIB,        /* a command's output for display; the model's version is in its item */
	LIMIT_ROLLOUT_OPEN_ITEMS = 4096,        /* items that were started and not completed */
	LIMIT_ROLLOUT_PARTIAL = 1 * MIB,        /* a streamed message, kept in case the turn is cut off */
	LIMIT_ROLLOUT_PENDING = 256 * MIB,      /* lines that wait for disk space */
	LIMIT_ROLLOUT_KEPT = 16 * KIB,          /* memory of the batch buffer that is kept between batches */
	LIMIT_ROLLOUT_HEAD = 4 * MIB,           /* the first line of a rollout, when only that line is read */
	LIMIT_ROLLOUT_SUMMARY = 8 * MIB,        /* the part of a rollout that is searched for the first user message */
	LIMIT_ROLLOUT_BASES = 8,                /* files that a fork refers to; a fork of more is a copy */
	LIMIT_ROLLOUT_SEGMENTS = 64,            /* files of one history */
	LIMIT_ROLLOUT_FILES = 1000 * 1000,      /* files scanned to find one session */
	LIMIT_ROLLOUT_LISTED = 50 * 1000,       /* sessions whose names are cached between two lists */
	LIMIT_ROLLOUT_WATCHED = 4096,           /* folders of sessions that are watched for changes */
	LIMIT_ROLLOUT_FACTS_PREVIEW = 1 * KIB,  /* a longer first message is not kept in memory for filters */
	LIMIT_ROLLOUT_INDEX_SUMMARY = 64 * KIB, /* a session's row in the index */
	LIMIT_ROLLOUT_INDEX_TEXT = 16 * MIB,    /* indexed text of one session */
	LIMIT_ROLLOUT_INDEX_WORDS = 4 * KIB,    /* a query of the index */
	LIMIT_ROLLOUT_REASON = 512,             /* the reason of a denial that is shown */
	LIMIT_SESSION_INDEX = 64 * MIB,
	LIMIT_HISTORY_FILE = 64 * MIB,           /* the size of history.jsonl */
	LIMIT_HISTORY_LOCK_MS = 20,              /* wait for the lock in the process that shortens history.jsonl */
	LIMIT_PROC_LOCKS = 1 * MIB,              /* /proc/locks, read to name the holder of a lock */
	LIMIT_ROLLOUT_INDEX_BUSY_MS = 25,        /* time for a lock of the index */
	LIMIT_ROLLOUT_INDEX_PAUSE_MS = 1000,     /* time without further attempts after that */
	LIMIT_PROC_STAT = 4 * KIB,               /* /proc/PID/stat, read to see whether the holder is exiting */
	LIMIT_ROLLOUT_COLD_S = 7 * 24 * 60 * 60, /* seconds without a change after which a rollout is packed */
	LIMIT_ROLLOUT_PACK_S = 6 * 60 * 60,      /* seconds between two passes that pack, of all processes */
	LIMIT_ROLLOUT_RESCUED = 16,              /* names that are tried for a .rescued file */
	LIMIT_ROLLOUT_TORN = 1000,               /* .torn files beside one rollout */
};

#endif
