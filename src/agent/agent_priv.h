/* agent_priv.h — emits events about agents. Private to agent/. */
#ifndef AGENT_AGENT_PRIV_H
#define AGENT_AGENT_PRIV_H

#include "agent/agent.h"

void agent_emit(struct agent *about, enum event_tag tag, const void *body);
/* Emits the counts of the agent's inbox. */
void agent_emit_inbox(struct agent *agent);

#endif
