/* pending.h — the requests of a Session that wait for an answer of the user or of the client.
 *
 * A request is registered before its event is emitted, so no answer can come too early. A kind has at most one request
 * per call id, because the calls of a response have different ids (engine/turn/turn.c) and a Session runs one Task at
 * a time.
 * Owns: its entries. Borrows: the calls, which are dropped here before they are destroyed. Loop thread only. */
#ifndef ENGINE_PENDING_H
#define ENGINE_PENDING_H

#include <stdbool.h>

#include "base/list.h"
#include "base/str.h"
#include "tool/tool_host.h"

enum pending_kind {
	PENDING_approval,    /* of the user, for a command or a patch; answered with a struct review_decision */
	PENDING_question,    /* to the user; answered with a struct user_input_answers */
	PENDING_client_tool, /* to the client that provides the tool; answered with a struct dynamic_tool_answer */
};

struct pending {
	/* private */
	struct list requests; /* oldest first */
};

void pending_init(struct pending *pending);
void pending_finish(struct pending *pending); /* no answer function runs */

/* The kind of the request that this event emits. The event must be one that asks. */
enum pending_kind pending_kind_of(enum event_tag event);

void pending_add(struct pending *pending, enum pending_kind kind, struct tool_call *call, tool_answer_fn answer);
/* The call of the request with this id, or NULL. id: of the call, or of the Task that asks: then its oldest request. A
 * call of a client's tool is found by its own id only. */
const struct tool_call *pending_find(const struct pending *pending, enum pending_kind kind, struct str id);
/* Removes the request and runs its answer function. False if there is no such request. */
bool pending_answer(struct pending *pending, enum pending_kind kind, struct str id, const void *answer);
/* Removes the requests of this call. */
void pending_drop(struct pending *pending, const struct tool_call *call);
bool pending_is_empty(const struct pending *pending);

#endif
