/* mcp_wait.h — postpones the first configure_session until the required MCP servers are ready or have failed. Private
 * to engine/codex/.
 *
 * Later submissions of the Codex stay in its queue. Owns: a copy of the submission, and references to the servers until
 * the session has its own. Loop thread only. */
#ifndef ENGINE_MCP_WAIT_H
#define ENGINE_MCP_WAIT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/list.h"
#include "loop/loop.h"

struct session_env;
struct submission;

struct mcp_wait {
	/* private */
	const struct session_env *env; /* lent by the owner */
	/* Called when the submission can be carried out; it is borrowed during the call. */
	void (*on_ready)(void *self, const struct submission *submission);
	void *self;
	struct submission *held; /* the postponed submission, or NULL */
	struct list servers;     /* the required servers */
	bool has_begun;
	struct loop_deferred ready;
};

void mcp_wait_init(struct mcp_wait *wait, const struct session_env *env,
                   void (*on_ready)(void *self, const struct submission *submission), void *self);
/* Starts the required servers. True if the submission, a configure_session, is postponed. */
bool mcp_wait_begin(struct mcp_wait *wait, const struct submission *submission);
/* Fails if a required server has not started. */
must_check int mcp_wait_check(const struct mcp_wait *wait, struct error *err);
bool mcp_wait_is_pending(const struct mcp_wait *wait);
/* Releases the servers; a later configure_session starts them again. */
void mcp_wait_release(struct mcp_wait *wait);
void mcp_wait_finish(struct mcp_wait *wait);

#endif
