/* agent_tree.h — the agents of one session: the root and all its subagents, by id.
 *
 * Ids are never reused, not even after a resume. Sessions are created and closed through agent_ops, which engine/
 * implements. Owns: its agents, waits and watchdogs. Loop thread only. */
#ifndef AGENT_AGENT_TREE_H
#define AGENT_AGENT_TREE_H

#include "agent/agent.h"
#include "base/error.h"

struct agent_tree *agent_tree_create(const struct agent_tree_options *options);
/* Closes the sessions of all subagents and removes them, without events. */
void agent_tree_clear(struct agent_tree *tree);
/* As agent_tree_clear, and destroys the root as well. No wait of a call may remain. NULL is fine. */
void agent_tree_destroy(struct agent_tree *tree);

/* Starts a new subagent of parent. NULL and err on failure; the model reads the text of err. */
must_check struct agent *agent_launch(struct agent *parent, const struct agent_launch *launch, struct error *err);
/* Adds a subagent of an earlier process, without a session. */
struct agent *agent_tree_adopt(struct agent_tree *tree, struct agent *parent, const struct subagent_summary *summary);
/* True if a descendant of the agent is active. */
bool agent_has_active(const struct agent *agent);
/* Removes the agent from the tree without an event; its children must be removed or have another parent. */
void agent_tree_forget(struct agent *agent);
/* Loads the agent's session and makes it active for new work. ERR_limit: too many agents are active. */
must_check int agent_wake(struct agent *agent, struct error *err);
/* Interrupts the agent's task; the agent is then ready for the next prompt. */
void agent_pause(struct agent *agent);
/* Cancels the agent and its descendants and closes their sessions; agent_wake loads one again. */
void agent_shut(struct agent *agent);
/* Cancels the agent's work; no-op if it has ended. */
void agent_cancel(struct agent *agent);
/* Cancels the agent's descendants. */
void agent_cancel_children(struct agent *agent);
/* Removes the agent and its descendants; their rollouts are kept. */
void agent_prune(struct agent *agent);

#endif
