/* guardian.h — the automatic reviewer: requests for approval that a separate request to the model answers instead of
 * the user. Private to engine/.
 *
 * A review never waits for the user, and an action runs only if a complete, valid answer of the reviewer allows it: a
 * failure, a time limit or an answer of another form is a denial. Denials without an approval between them interrupt
 * the task. Owned by the session; a review borrows its call, which drops it before the call ends. Loop thread only. */
#ifndef ENGINE_GUARDIAN_H
#define ENGINE_GUARDIAN_H

#include "base/error.h"
#include "protocol/message/message.h"
#include "tool/tool.h"

struct session;

/* Starts the review of a call's request. False: the user is asked, because there is no reviewer, or because the request
 * is not one for approval. Otherwise `answer` runs later, unless the call is dropped before. */
bool guardian_start(struct session *session, struct tool_call *call, enum event_tag tag, const void *body,
                    tool_answer_fn answer);
/* Ends the reviews of a call without an answer; NULL: the session ends; all, without
 * events. */
void guardian_drop(struct session *session, const struct tool_call *call);
/* Answers all reviews with a failure: their model client is about to be destroyed. */
void guardian_fail_all(struct session *session, const char *why);

/* Records that the user approves an action that was denied: model and reviewer receive it. A guardian_warning says
 * whether it was recorded, and why not. */
void guardian_approve(struct session *session, struct str sub_id, const struct ev_guardian_assessment *denied);
/* Returns those actions as JSON, comma-separated. */
struct str guardian_approved(const struct session *session);

#endif
