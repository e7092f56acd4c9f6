/* agents_priv.h — between the files that make and run subagents. Private to engine/agents*.c. */
#ifndef ENGINE_AGENTS_PRIV_H
#define ENGINE_AGENTS_PRIV_H

#include "agent/agent_tree.h"
#include "base/error.h"

struct codex;

enum { MAX_ACTIVE_SUBAGENTS = 256 };

/* agents_open.c: of struct agent_ops. */
must_check int agents_open(struct agent *agent, const struct agent_launch *launch, void *self, struct error *err);
must_check int agents_reopen(struct agent *agent, void *self, struct error *err);

/* A new Codex is that agent's. */
void agents_join(struct codex *child, struct agent *agent);
/* Its Session is there: the root's front end is told. */
void agents_announce(struct codex *child);
/* It is about to go. */
void agents_retract(struct codex *child);

#endif
