/* rollout_tail.h — repairs the end of a file whose last line may be incomplete.
 *
 * Owns: nothing. Loop thread (reads the last line only). Source: docs/rollouts.md "Damage". */
#ifndef ROLLOUT_ROLLOUT_TAIL_H
#define ROLLOUT_ROLLOUT_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct rollout_tail {
	char *torn_path;       /* the file with the torn line, owned; NULL without one */
	bool has_ordinal;      /* lines of this file are numbered */
	uint64_t next_ordinal; /* the number of the next line */
};

/* Makes fd, opened O_RDWR and O_APPEND, end with a complete line: a last line that lacks only its newline gets one; an
 * incomplete line is moved to <path>.torn-<n>. */
must_check int rollout_tail_repair(int fd, const char *path, struct rollout_tail *ret, struct error *err);
void rollout_tail_finish(struct rollout_tail *tail);

#endif
