/* agent_watchdog.h — a message that is posted to an agent at an interval.
 *
 * There is at most one for each pair of owner and target. A ping is skipped while the previous one is unread. Owns:
 * its message and timer. Loop thread only. */
#ifndef AGENT_AGENT_WATCHDOG_H
#define AGENT_AGENT_WATCHDOG_H

#include "agent/agent.h"
#include "base/error.h"

enum agent_watchdog_action {
	AGENT_WATCHDOG_started,
	AGENT_WATCHDOG_replaced,
	AGENT_WATCHDOG_canceled,
	AGENT_WATCHDOG_not_found,
};

/* Starts a watchdog. ERR_limit: the owner has too many of them. */
must_check int agent_watchdog_start(struct agent *owner, struct agent *target, uint64_t interval_s, struct str message,
                                    enum agent_watchdog_action *ret_action, struct error *err);
enum agent_watchdog_action agent_watchdog_cancel(struct agent *owner, const struct agent *target);

/* To be called when the agent is removed: destroys its own watchdogs and those for it. For agent/ only. */
void agent_watchdogs_drop(struct agent *agent);

#endif
