/* agent_priv.h — how changes to agents are told. Private to agent/. */
#ifndef AGENT_AGENT_PRIV_H
#define AGENT_AGENT_PRIV_H

#include "agent/agent.h"

void agent_tell(struct agent *about, enum event_tag tag, const void *body);
/* How full its inbox is. */
void agent_tell_inbox(struct agent *agent);

#endif
