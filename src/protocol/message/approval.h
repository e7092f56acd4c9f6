/* approval.h — operations on an approval policy: which requests it permits, names, comparison, copy.
 *
 * Owns: nothing; copies live in the arena. Thread: any. */
#ifndef PROTOCOL_APPROVAL_H
#define PROTOCOL_APPROVAL_H

#include <stdbool.h>

#include "protocol/record/types.h"

struct arena;

/* The error of a patch that the user has declined, in patch_apply_end. */
#define PATCH_DECLINED "patch rejected by user"

/* The kinds of approval requests that a granular policy distinguishes. */
enum approval_question {
	QUESTION_sandbox,     /* commands outside the sandbox, destructive commands, patches outside the workspace */
	QUESTION_rules,       /* commands for which a rule requires approval */
	QUESTION_skill,       /* scripts of skills */
	QUESTION_permissions, /* requests for more permissions */
	QUESTION_mcp,         /* elicitations of MCP servers */
	QUESTION_count
};

/* True if the user may be asked; if false, deny the request. */
bool approval_may_ask(const struct ask_for_approval *policy, enum approval_question question);
/* Returns the policy's wire word: "never", "granular". */
const char *approval_name(const struct ask_for_approval *policy);
/* Returns the form used in denials sent to the model: "Never", "Granular(sandbox_approval = false)". */
const char *approval_title(const struct ask_for_approval *policy);
bool approval_is_same(const struct ask_for_approval *a, const struct ask_for_approval *b);
/* Returns a deep copy, in which `reject` is converted to the equivalent `granular`. */
struct ask_for_approval *approval_copy(const struct ask_for_approval *policy, struct arena *arena);

#endif
