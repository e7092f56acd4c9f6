/* pending.h — the pending requests of a Session: calls of tools that wait for an answer of the user or of the client.
 *
 * A request is added before its event is emitted, so no answer can come too early. A kind has at most one request per
 * call id, except for elicitations, because calls with one id run one after the other (engine/turn/turn.c) and a
 * Session runs one Task at a time. The calls are borrowed; their requests are dropped before they are destroyed. The
 * list is searched linearly: it has one entry per waiting call, at most LIMIT_TOOLS_RUNNING. Owns: the entries. Thread:
 * the loop's. */
#ifndef ENGINE_PENDING_H
#define ENGINE_PENDING_H

#include "base/error.h"
#include "base/list.h"
#include "protocol/message/message.h"
#include "tool/tool.h"

enum pending_kind {
	PENDING_approval,    /* request to the user to approve a command or a patch; the answer is a struct
	                      * review_decision */
	PENDING_question,    /* question to the user; the answer is a struct user_input_answers */
	PENDING_client_tool, /* call to the client that provides the tool; the answer is a struct dynamic_tool_answer */
	PENDING_elicitation, /* question of an MCP server, or approval of a call to it; the answer is a struct
	                      * op_resolve_elicitation */
};

/* Returns the kind of the request that this event emits. The event must be a request. */
enum pending_kind pending_kind_of(enum event_tag event);

/* requests is the list of the Session. answer runs in pending_answer. body: of the event; an elicitation has an id of
 * its own, because a call may have several. */
void pending_add(struct list *requests, enum event_tag event, const void *body, struct tool_call *call,
                 tool_answer_fn answer);
/* Removes the elicitation with this id, without running its answer function. */
void pending_withdraw(struct list *requests, struct str id);
/* Returns the call of the request with this id, or NULL. id is that of the call, or of the task, which means its
 * oldest request. A call of a client's tool and an elicitation are found by their own ids only. */
const struct tool_call *pending_find(const struct list *requests, enum pending_kind kind, struct str id);
/* Removes the request and runs its answer function. False if there is no such request. */
must_check bool pending_answer(struct list *requests, enum pending_kind kind, struct str id, const void *answer);
/* Removes the requests of this call, or all of them if call is NULL. No answer function runs. on_dropped, which may be
 * NULL, is called for each that a user was asked. */
typedef void (*pending_dropped_fn)(const struct ev_request_user_input_expired *event, void *self);
void pending_drop(struct list *requests, const struct tool_call *call, pending_dropped_fn on_dropped, void *self);

#endif
