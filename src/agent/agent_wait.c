/* A wait looks for news in the loop iteration after a possible change. No news is lost between two looks, because
 * messages stay in the inbox until they are taken. */
#include "agent/agent_wait.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"

struct agent_wait {
	struct agent_waiter base;
	uint64_t target; /* 0: any agent */
	agent_find_fn find;
	bool is_interrupted;
	struct loop_timer *timer;
	agent_wait_fn on_end;
	void *self;
};

static bool is_awaited(const struct agent *agent, const struct agent *reader, const struct agent *target)
{
	return target ? agent == target : agent->parent == reader;
}

/* Returns the sender of the oldest message. */
static struct agent *find_sender(const struct agent *reader, const struct agent *target)
{
	struct agent *found = NULL, *agent;
	uint64_t order = UINT64_MAX;
	list_for_each(agent, &reader->tree->agents, link) {
		const struct agent_message *message = agent_inbox_find(&reader->inbox, agent->id);
		if (!message || message->order >= order || (target && agent != target))
			continue;
		order = message->order;
		found = agent;
	}
	return found;
}

/* Finds an agent with news. A completion is pending until it is read. If no awaited agent is active, the last
 * completion is returned again. */
static struct agent *find_news(const struct agent *reader, const struct agent *target)
{
	struct agent *agent, *ended = NULL;
	struct agent *sender = agent_inbox_is_empty(&reader->inbox) ? NULL : find_sender(reader, target);
	if (sender)
		return sender;
	list_for_each(agent, &reader->tree->agents, link) {
		if (!is_awaited(agent, reader, target))
			continue;
		if (agent_is_active(agent))
			return NULL;
		ended = agent;
	}
	return ended;
}

void agent_take_news(struct agent *reader, struct agent_news *news)
{
	VEC(struct agent_message *) taken = {0};
	size_t room = LIMIT_AGENT_NEWS;
	const struct agent_message *next;
	while ((next = agent_inbox_find(&reader->inbox, news->about->id)) && (!taken.count || next->text.len <= room)) {
		room -= next->text.len < room ? next->text.len : room;
		vec_push(&taken, agent_take_from(reader, news->about->id));
	}
	news->messages = taken.items;
	news->count = taken.count;
}

void agent_news_finish(struct agent_news *news)
{
	for (size_t i = 0; i < news->count; i++)
		agent_message_destroy(news->messages[i]);
	free(news->messages);
	*news = (struct agent_news){0};
}

void agent_wait_destroy(struct agent_wait *wait)
{
	if (!wait)
		return;
	list_remove(&wait->base.link);
	loop_deferred_finish(&wait->base.look);
	loop_timer_destroy(wait->timer);
	free(wait);
}

static void end(struct agent_wait *wait, enum agent_wake wake, struct agent *about)
{
	agent_wait_fn on_end = wait->on_end;
	void *self = wait->self;
	agent_wait_destroy(wait);
	on_end(wake, about, self);
}

/* Returns one of the awaited agents, preferably an active one. */
static struct agent *find_awaited(const struct agent_wait *wait)
{
	struct agent *agent, *found = NULL;
	const struct agent *target = wait->target ? agent_tree_find(wait->base.waiter->tree, wait->target) : NULL;
	list_for_each(agent, &wait->base.waiter->tree->agents, link) {
		if (!is_awaited(agent, wait->base.waiter, target))
			continue;
		if (agent_is_active(agent))
			return agent;
		found = agent;
	}
	return found ? found : wait->base.waiter;
}

static void on_look(void *self)
{
	struct agent_wait *wait = self;
	struct agent *waiter = wait->base.waiter;
	struct agent *target = wait->target ? agent_tree_find(waiter->tree, wait->target) : NULL;
	struct agent *about = wait->find ? wait->find(waiter, wait->self) : find_news(waiter, target);
	if (wait->is_interrupted)
		end(wait, AGENT_WAKE_user, find_awaited(wait));
	else if (wait->target && !target)
		end(wait, AGENT_WAKE_gone, wait->base.waiter);
	else if (about)
		end(wait, AGENT_WAKE_news, about);
}

static void on_timeout(void *self)
{
	struct agent_wait *wait = self;
	end(wait, AGENT_WAKE_timeout, find_awaited(wait));
}

struct agent_wait *agent_wait_start(const struct agent_wait_options *options)
{
	struct agent_tree *tree = options->waiter->tree;
	struct agent_wait *wait = xnew(struct agent_wait);
	wait->base.waiter = options->waiter;
	wait->target = options->target ? options->target->id : 0;
	wait->find = options->find;
	wait->on_end = options->on_end;
	wait->self = options->self;
	wait->timer = loop_timer_create(tree->options.loop, on_timeout, wait);
	loop_timer_start(wait->timer, agent_tree_delay(tree, options->timeout_ms));
	loop_deferred_init(&wait->base.look, tree->options.loop, on_look, wait);
	loop_defer(&wait->base.look);
	list_append(&tree->waits, &wait->base.link);
	return wait;
}

void agent_waits_interrupt(struct agent *waiter)
{
	struct agent_wait *wait;
	list_for_each(wait, &waiter->tree->waits, base.link) {
		if (wait->base.waiter == waiter)
			wait->is_interrupted = true;
	}
	agent_waits_wake(waiter);
}

/* Wakes the waits for a removed agent and destroys the agent's own waits. */
void agent_waits_drop(struct agent *agent)
{
	struct agent_wait *wait;
	list_for_each(wait, &agent->tree->waits, base.link) {
		if (wait->base.waiter == agent)
			agent_wait_destroy(wait);
		else
			loop_defer(&wait->base.look);
	}
}
