/* agent_tree.h — the agents of one session: the root and every subagent below it, by number (seed 001).
 *
 * Numbers only go up, also when agents are gone and when the session is resumed. The tree knows nothing of Sessions:
 * it asks for them through agent_ops, which engine/ implements.
 * Owns: its agents, waits and watchdogs. Loop thread only. Source: subagents 1, 4, 7, 10. */
#ifndef AGENT_AGENT_TREE_H
#define AGENT_AGENT_TREE_H

#include "agent/agent.h"

struct error;

struct agent_tree *agent_tree_create(const struct agent_tree_options *options);
/* Closes the Sessions of all subagents and forgets them, without telling anybody. */
void agent_tree_clear(struct agent_tree *tree);
/* The same, and the root goes as well: nobody's calls may be waiting any more. NULL is fine. */
void agent_tree_destroy(struct agent_tree *tree);

/* A new subagent of parent. NULL and err, in the words the model is told. */
struct agent *agent_launch(struct agent *parent, const struct agent_launch *launch, struct error *err);
/* One that an earlier process had: known, and without a Session. */
struct agent *agent_tree_adopt(struct agent_tree *tree, struct agent *parent, const struct subagent_summary *summary);
/* Drops it from the tree without telling anybody; who stands below it must be gone or have another parent. */
void agent_tree_forget(struct agent *agent);
/* Before it gets new work: it has a place, and a Session behind it. */
int agent_wake(struct agent *agent, struct error *err);
/* Ends what it works on without ending it: it waits for the next words. */
void agent_pause(struct agent *agent);
/* Ends it and its Session, and those of all below it; agent_wake brings one back. */
void agent_shut(struct agent *agent);
/* Ends it for good: canceled. No effect on one that has ended. Those below it are canceled as well. */
void agent_cancel(struct agent *agent);
/* Cancels everything below it. */
void agent_cancel_children(struct agent *agent);
/* Forgets it and all below it; their records stay. */
void agent_prune(struct agent *agent);

#endif
