/* agents_priv.h — shared by the files that start and run subagents. Private to agents*.c. */
#ifndef ENGINE_AGENTS_PRIV_H
#define ENGINE_AGENTS_PRIV_H

#include "agent/agent_tree.h"
#include "base/error.h"

struct codex;

enum { MAX_ACTIVE_SUBAGENTS = 256 };

/* agents_open.c: members of struct agent_ops. */
must_check int agents_open(struct agent *agent, const struct agent_launch *launch, void *self, struct error *err);
must_check int agents_reopen(struct agent *agent, void *self, struct error *err);

/* Emits how the work of the restored subagents ended that were active. Their rollouts are read on a worker; meanwhile
 * the Ops and the events of the root wait, so that a client that has received session_configured can submit. */
void agents_settle_restored(struct codex *root);
/* The root is about to be closed. */
void agents_settle_cancel(struct codex *root);

/* Gives a new Codex to the agent. */
void agents_join(struct codex *child, struct agent *agent);
/* Notifies the root's front end of a subagent's Codex, once its Session exists. */
void agents_announce(struct codex *child);
/* Notifies the front end that the Codex is about to be closed. */
void agents_retract(struct codex *child);
/* The recorded history has the messages taken from the inbox: records in the root's rollout that they were read. */
void agents_record_taken(void *self);

#endif
