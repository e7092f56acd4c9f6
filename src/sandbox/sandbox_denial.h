/* sandbox_denial.h — guesses whether the sandbox stopped a command, or whether the command failed by itself.
 *
 * The system only refuses a call, and programs may print any text, so this is a guess. The result decides whether to
 * ask for approval and what the model reads; it never allows anything. Owns nothing. Thread: any. */
#ifndef SANDBOX_SANDBOX_DENIAL_H
#define SANDBOX_SANDBOX_DENIAL_H

#include <stdbool.h>

#include "base/str.h"

/* How a command in a sandbox ended, and its output. */
struct sandbox_outcome {
	int exit_code; /* the value of struct process_result */
	int signal;    /* 0 if the command exited */
	struct str out;
	struct str err; /* empty if both streams are merged */
};

/* True if the sandbox is the likely reason for the failure. *ret_evidence is set to the line of the output that
 * shows it, borrowed, at most SANDBOX_EVIDENCE_MAX bytes; or to STR_NONE if the exit status or signal shows it.
 * ret_evidence may be NULL. */
enum { SANDBOX_EVIDENCE_MAX = 512 };
bool sandbox_denial_is_likely(const struct sandbox_outcome *outcome, struct str *ret_evidence);

#endif
