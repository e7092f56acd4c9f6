/* sandbox_denial.h — guesses whether the sandbox stopped a command, or whether the command failed by itself.
 *
 * The system only refuses a call, and a program prints what it likes, so this is a guess. The result decides whether
 * to ask for approval and what the model reads; it never allows anything. Owns nothing. Thread: any. */
#ifndef SANDBOX_SANDBOX_DENIAL_H
#define SANDBOX_SANDBOX_DENIAL_H

#include <stdbool.h>

#include "base/str.h"

/* The end and the output of a command that ran in a sandbox. */
struct sandbox_outcome {
	int exit_code; /* as in struct process_result */
	int signal;    /* 0 if it exited */
	struct str out;
	struct str err; /* STR("") if both streams are merged */
};

/* True if the sandbox is the likely reason for the failure. ret_evidence (may be NULL) becomes the line of the output
 * that shows it, borrowed, at most SANDBOX_EVIDENCE_MAX bytes; STR_NONE if the exit status or signal shows it. */
enum { SANDBOX_EVIDENCE_MAX = 512 };
bool sandbox_denial_is_likely(const struct sandbox_outcome *outcome, struct str *ret_evidence);

#endif
