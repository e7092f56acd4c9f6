/* script.h — a recorded session as a script for `codex mock-model`: each response of the model becomes one reply.
 *
 * Owns: nothing. Any thread. */
#ifndef UI_SCRIPT_H
#define UI_SCRIPT_H

#include <stdbool.h>

#include "base/buf.h"

struct rollout_reader;

struct script_options {
	bool answers;     /* tools do not run again: their recorded output is printed instead */
	bool is_masked;   /* secrets, the session's folder and the home folder are replaced */
	const char *home; /* the user's home folder, or NULL */
};

/* Appends the script. The reader must have the records of the history (ROLLOUT_HISTORY). */
void script_write(const struct rollout_reader *reader, const struct script_options *options, struct buf *out);

#endif
