/* sandbox_denial.h — did the sandbox stop this command, or did it fail by itself?
 *
 * A guess from outside: the system tells a program only that it may not, and the program prints what it likes. So the
 * answer serves to ask somebody, or to tell the model why; it never allows anything.
 * Owns nothing. Thread: any. Source: core 2.5. */
#ifndef SANDBOX_SANDBOX_DENIAL_H
#define SANDBOX_SANDBOX_DENIAL_H

#include <stdbool.h>

#include "base/str.h"

/* How a command that ran inside a sandbox ended, and what it said. */
struct sandbox_outcome {
	int exit_code; /* as struct process_result has it */
	int signal;    /* 0 if it exited */
	struct str out;
	struct str err; /* STR("") where both streams are one */
};

/* True if the sandbox is the likely reason for the failure. ret_evidence (NULL: not wanted) becomes the line of the
 * output that says so, borrowed, at most SANDBOX_EVIDENCE_MAX bytes; STR_NONE if the way it ended says it. */
enum { SANDBOX_EVIDENCE_MAX = 512 };
bool sandbox_denial_is_likely(const struct sandbox_outcome *outcome, struct str *ret_evidence);

#endif
