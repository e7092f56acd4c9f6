/* approval.h — operations on an approval policy: which requests it permits, names, comparison, copy.
 *
 * Owns: nothing; copies live in the arena. Thread: any. */
#ifndef PROTOCOL_APPROVAL_H
#define PROTOCOL_APPROVAL_H

#include <stdbool.h>

#include "protocol/record/types.h"

struct arena;

/* The kinds of approval requests that a granular policy distinguishes. */
enum approval_question {
	QUESTION_sandbox,     /* commands outside the sandbox, destructive commands, patches elsewhere */
	QUESTION_rules,       /* required by a rule */
	QUESTION_skill,       /* a skill's script */
	QUESTION_permissions, /* more permissions */
	QUESTION_mcp,         /* an MCP server's elicitation */
	QUESTION_count
};

/* False: deny without asking the user. */
bool approval_may_ask(const struct ask_for_approval *policy, enum approval_question question);
/* The policy's wire word: "never", "granular". */
const char *approval_name(const struct ask_for_approval *policy);
/* The form used in denials sent to the model: "Never", "Granular(sandbox_approval = false)". */
const char *approval_title(const struct ask_for_approval *policy);
bool approval_is_same(const struct ask_for_approval *a, const struct ask_for_approval *b);
/* A deep copy; `reject` is converted to the equivalent `granular`. */
struct ask_for_approval *approval_copy(const struct ask_for_approval *policy, struct arena *arena);

#endif
