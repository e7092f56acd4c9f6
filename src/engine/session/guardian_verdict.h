/* guardian_verdict.h — reads the answer of the automatic reviewer.
 *
 * Owns: nothing. Any thread. */
#ifndef ENGINE_GUARDIAN_VERDICT_H
#define ENGINE_GUARDIAN_VERDICT_H

#include "base/error.h"
#include "base/str.h"
#include "protocol/record/enum.h"

struct arena;

struct guardian_verdict {
	bool is_allowed;
	enum guardian_risk_level risk;
	enum guardian_user_authorization authorization;
	struct str rationale; /* in the arena, at most LIMIT_GUARDIAN_RATIONALE bytes */
};

/* JSON Schema of the answer. */
extern const struct str guardian_verdict_schema;

/* Reads an answer: one JSON object, which lines with ``` may surround, with `outcome` once. Anything else is an error,
 * because text around an object may quote one that the action contains. An answer that allows a critical risk, or a
 * high one without the user's authorization, is a denial. */
must_check int guardian_verdict_read(struct str answer, struct arena *arena, struct guardian_verdict *ret,
                                     struct error *err);

#endif
