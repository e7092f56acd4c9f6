/* rollout_tail.h — the end of a file that another process may have left in the middle of a line.
 *
 * Owns: nothing. Loop thread (reads the last line only). Source: core 10, docs/rollouts.md "Damage". */
#ifndef ROLLOUT_ROLLOUT_TAIL_H
#define ROLLOUT_ROLLOUT_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct rollout_tail {
	char *torn_path;       /* owned, NULL if nothing was torn: where the broken line was put */
	bool has_ordinal;      /* lines of this file are numbered … */
	uint64_t next_ordinal; /* … and this is the next one's */
};

/* Makes fd, opened O_RDWR and O_APPEND, end with a whole line: a last line that lacks only its newline
 * gets it, half a line is moved to <path>.torn-<n>. */
must_check int rollout_tail_repair(int fd, const char *path, struct rollout_tail *ret, struct error *err);
void rollout_tail_finish(struct rollout_tail *tail);

#endif
