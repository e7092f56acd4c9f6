/* approval.h — questions that wait for the user, and what the user allowed for the session.
 *
 * A question is registered before it is told, so an answer can never come too early (protocol-v1 6,
 * row 12). Answers find it by call id, else by the sub_id of the asking Task (its oldest question).
 * Owns: its entries; borrows the calls. Loop thread only. */
#ifndef ENGINE_APPROVAL_H
#define ENGINE_APPROVAL_H

#include <stdbool.h>

#include "base/list.h"
#include "base/str.h"
#include "base/vec.h"
#include "tool/tool_host.h"

struct approvals {
	/* private */
	struct list waiting;
	VEC(char *) allowed; /* keys approved for the session */
};

void approvals_init(struct approvals *approvals);
void approvals_finish(struct approvals *approvals);

void approvals_add(struct approvals *approvals, struct str call_id, struct str sub_id, struct tool_call *call,
                   tool_answer_fn answer);
bool approvals_has(struct approvals *approvals, struct str id);
/* The call that the question is about; STR_NONE if nobody asked. */
struct str approvals_call_id(struct approvals *approvals, struct str id);
/* Removes the question and runs its answer. False if nobody asked. */
bool approvals_answer(struct approvals *approvals, struct str id, const struct review_decision *decision);
/* Forgets every question of that call. */
void approvals_drop(struct approvals *approvals, const struct tool_call *call);
bool approvals_waiting(const struct approvals *approvals);

bool approvals_is_allowed(const struct approvals *approvals, struct str key);
void approvals_allow(struct approvals *approvals, struct str key);

#endif
