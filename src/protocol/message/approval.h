/* approval.h — an approval policy as a value: what may be asked under it, whether two are the same, a copy.
 *
 * Owns: nothing; copies live in the arena. Thread: any. Source: core 2.3, app-server-wire 3. */
#ifndef PROTOCOL_APPROVAL_H
#define PROTOCOL_APPROVAL_H

#include <stdbool.h>

#include "protocol/record/types.h"

struct arena;

/* The kinds of questions that a granular policy tells apart. */
enum approval_question {
	QUESTION_sandbox,     /* to leave the sandbox, to destroy, to write elsewhere */
	QUESTION_rules,       /* because a rule says so */
	QUESTION_skill,       /* to run a skill's script */
	QUESTION_permissions, /* for more permissions */
	QUESTION_mcp,         /* an MCP server's elicitation */
	QUESTION_count
};

/* False: the answer is no, and nobody is asked. */
bool approval_may_ask(const struct ask_for_approval *policy, enum approval_question question);
/* The policy's wire word: "never", "granular". */
const char *approval_name(const struct ask_for_approval *policy);
/* As the model reads it in a refusal to let it leave the sandbox: "Never", "Granular(sandbox_approval = false)". */
const char *approval_title(const struct ask_for_approval *policy);
bool approval_is_same(const struct ask_for_approval *a, const struct ask_for_approval *b);
/* A deep copy; `reject` becomes the `granular` that it means. */
struct ask_for_approval *approval_copy(const struct ask_for_approval *policy, struct arena *arena);

#endif
