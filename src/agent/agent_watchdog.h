/* agent_watchdog.h — a message that comes again and again, to nudge an agent (subagents 3.6).
 *
 * One for each pair of who set it and whom it is for. A ping is left out while the one before has not been read.
 * Owns: its message and timer. Loop thread only. */
#ifndef AGENT_AGENT_WATCHDOG_H
#define AGENT_AGENT_WATCHDOG_H

#include "agent/agent.h"

enum agent_watchdog_action {
	AGENT_WATCHDOG_started,
	AGENT_WATCHDOG_replaced,
	AGENT_WATCHDOG_canceled,
	AGENT_WATCHDOG_not_found,
};

/* ERR_limit: too many of them. */
int agent_watchdog_start(struct agent *owner, struct agent *target, uint64_t interval_s, struct str message,
                         enum agent_watchdog_action *ret_action, struct error *err);
enum agent_watchdog_action agent_watchdog_cancel(struct agent *owner, const struct agent *target);

/* The agent is going away: its own and those for it end. For agent/. */
void agent_watchdogs_drop(struct agent *agent);

#endif
