/* agent_priv.h — how changes to agents are told. Private to agent/. */
#ifndef AGENT_AGENT_PRIV_H
#define AGENT_AGENT_PRIV_H

#include "agent/agent.h"

void agent_tell(struct agent *about, enum event_tag tag, const void *body);
/* How full its inbox is. message: what was added, for the record; NULL: something was taken. */
void agent_tell_inbox(struct agent *agent, const struct agent_message *message);

#endif
