/* A ping is skipped while the previous one is unread, so that they do not pile up in the inbox of a busy agent. */
#include "agent/agent_watchdog.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"

struct watchdog {
	struct list link; /* a node of the tree's watchdogs */
	struct agent *owner, *target;
	uint64_t interval_ms;
	char *message;
	struct loop_timer *timer;
};

static void destroy(struct watchdog *watchdog)
{
	list_remove(&watchdog->link);
	loop_timer_destroy(watchdog->timer);
	free(watchdog->message);
	free(watchdog);
}

static struct watchdog *find(const struct agent *owner, const struct agent *target)
{
	struct watchdog *watchdog;
	list_for_each(watchdog, &owner->tree->watchdogs, link) {
		if (watchdog->owner == owner && watchdog->target == target)
			return watchdog;
	}
	return NULL;
}

static bool is_unread(const struct watchdog *watchdog)
{
	const struct agent_message *message;
	list_for_each(message, &watchdog->target->inbox.regular, link) {
		if (message->sender == watchdog->owner->id && str_is(message->text, watchdog->message))
			return true;
	}
	return false;
}

static void arm(struct watchdog *watchdog)
{
	uint64_t delay_ms = agent_tree_delay(watchdog->owner->tree, watchdog->interval_ms);
	loop_timer_start(watchdog->timer, delay_ms ? delay_ms : 1);
}

static void on_due(void *self)
{
	struct error err;
	struct watchdog *watchdog = self;
	arm(watchdog);
	if (is_unread(watchdog))
		return;
	if (agent_post(watchdog->target, watchdog->owner->id, false, str_of(watchdog->message), &err) != 0)
		destroy(watchdog);
}

static size_t count_of(const struct agent *owner)
{
	size_t count = 0;
	const struct watchdog *watchdog;
	list_for_each(watchdog, &owner->tree->watchdogs, link)
		count += watchdog->owner == owner;
	return count;
}

int agent_watchdog_start(struct agent *owner, struct agent *target, uint64_t interval_s, struct str message,
                         enum agent_watchdog_action *ret_action, struct error *err)
{
	struct watchdog *old = find(owner, target);
	if (!old && count_of(owner) >= LIMIT_AGENT_WATCHDOGS)
		return error_set(err, ERR_limit, "an agent may have at most %d watchdogs; cancel one first",
		                 LIMIT_AGENT_WATCHDOGS);
	*ret_action = old ? AGENT_WATCHDOG_replaced : AGENT_WATCHDOG_started;
	if (old)
		destroy(old);
	struct watchdog *watchdog = xnew(struct watchdog);
	watchdog->owner = owner;
	watchdog->target = target;
	watchdog->interval_ms = interval_s * 1000;
	watchdog->message = str_dup(message);
	watchdog->timer = loop_timer_create(owner->tree->options.loop, on_due, watchdog);
	list_append(&owner->tree->watchdogs, &watchdog->link);
	arm(watchdog);
	return 0;
}

enum agent_watchdog_action agent_watchdog_cancel(struct agent *owner, const struct agent *target)
{
	struct watchdog *watchdog = find(owner, target);
	if (!watchdog)
		return AGENT_WATCHDOG_not_found;
	destroy(watchdog);
	return AGENT_WATCHDOG_canceled;
}

void agent_watchdogs_drop(struct agent *agent)
{
	struct watchdog *watchdog;
	list_for_each(watchdog, &agent->tree->watchdogs, link) {
		if (watchdog->owner == agent || watchdog->target == agent)
			destroy(watchdog);
	}
}
