/* agent_restore.h — a tree as it was, from the events that told of it (seed 001, subagents 6).
 *
 * Replayed events change what is known and nothing else: nobody is told again, no Session is made. Agents that were at
 * work keep that status until somebody finds out what became of them (engine/codex/agents_resume.c).
 * Unknown numbers and shapes are passed over: a file may come from a newer version, or be damaged. */
#ifndef AGENT_AGENT_RESTORE_H
#define AGENT_AGENT_RESTORE_H

#include "agent/agent_tree.h"

void agent_restore_lifecycle(struct agent_tree *tree, const struct ev_subagent_lifecycle *event);
void agent_restore_inbox(struct agent_tree *tree, const struct ev_agent_inbox *event);

#endif
