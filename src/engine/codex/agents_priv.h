/* agents_priv.h — shared by the files that start and run subagents. Private to agents*.c. */
#ifndef ENGINE_AGENTS_PRIV_H
#define ENGINE_AGENTS_PRIV_H

#include "agent/agent_tree.h"
#include "base/error.h"

struct codex;
struct unfinished;

enum { MAX_ACTIVE_SUBAGENTS = 256 };

/* Members of struct agent_ops, defined in agents_open.c. */
void agents_name(struct agent *agent, const struct agent_launch *launch);
must_check int agents_open(struct agent *agent, const struct agent_launch *launch, void *self, struct error *err);
must_check int agents_reopen(struct agent *agent, void *self, struct error *err);
/* Loads the session of an agent that worked in a lost process, and continues its task. */
must_check int agents_continue(struct agent *agent, const struct codex *root, const struct unfinished *unfinished,
                               struct error *err);

/* Emits how the restored subagents that were active have ended. Their rollouts are read on a worker; meanwhile the
 * Ops and events of the root wait, so that a client that has received session_configured can submit. */
void agents_settle_restored(struct codex *root);
/* To be called before the root is closed. */
void agents_settle_cancel(struct codex *root);

/* Assigns a new Codex to the agent. */
void agents_join(struct codex *child, struct agent *agent);
/* Notifies the root's front end of a subagent's Codex, once its Session exists. */
void agents_announce(struct codex *child);
/* Notifies the front end that the Codex is about to be closed. */
void agents_retract(struct codex *child);
/* Records in the root's rollout that messages were read, after they are in the recorded history. */
void agents_record_taken(void *self);

#endif
