/* agent_restore.h — restores a tree from the events of a rollout.
 *
 * Replayed events change the tree only: no event is emitted and no session is created. Agents that were active keep
 * that status until engine/codex/agents_resume.c settles it.
 * Unknown ids and forms are ignored: a file may come from a newer version, or be damaged. */
#ifndef AGENT_AGENT_RESTORE_H
#define AGENT_AGENT_RESTORE_H

#include "agent/agent_tree.h"

void agent_restore_lifecycle(struct agent_tree *tree, const struct ev_subagent_lifecycle *event);
void agent_restore_inbox(struct agent_tree *tree, const struct ev_agent_inbox *event);

#endif
