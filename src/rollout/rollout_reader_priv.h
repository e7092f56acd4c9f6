/* rollout_reader_priv.h — shared by rollout_reader.c (lines), rollout_reader_files.c (bytes),
 * rollout_reader_history.c (the history of requests) and rollout_reader_thin.c (what remains). */
#ifndef ROLLOUT_ROLLOUT_READER_PRIV_H
#define ROLLOUT_ROLLOUT_READER_PRIV_H

#include <stdint.h>

#include "base/error.h"
#include "rollout/rollout_reader.h"

/* A file, or the part of it that the next file refers to. */
struct rollout_segment {
	char *text; /* owned */
	size_t len;
	bool is_disordered; /* its lines must be sorted by number */
	char *path;         /* owned */
	uint64_t most;      /* number of its bytes that belong to the session */
	size_t kept;        /* number of bytes at its start that records refer to */
	size_t taken;       /* number of those that rollout_reader_thin has returned */
};

enum { ROLLOUT_RELEASE = 256 * 1024 }; /* bytes that are returned at once */

/* Returns the pages between two offsets to the system. Their content is lost, unless the segment is disordered. */
void rollout_segment_release(const struct rollout_segment *segment, size_t from, size_t to);

/* Reads the file and the files that it refers to into reader->segments; the oldest is last. */
must_check int rollout_reader_read_files(struct rollout_reader *reader, struct error *err);

/* Reads the first `most` bytes of a file. */
must_check int rollout_reader_read_file(const char *path, uint64_t most, struct rollout_segment *ret,
                                        struct error *err);

/* Removes the last `turns` turns, with the preambles of their messages, from the records. */
void rollout_reader_roll_back(struct rollout_reader *reader, uint64_t turns);
/* Fills history, turn and needs_context from the records. */
void rollout_reader_build_history(struct rollout_reader *reader);

#endif
