/* agent_wait.h — waits for news of one agent or of any child.
 *
 * News are messages in the waiter's inbox and completions of its children. A wait runs its callback once, from the
 * loop, unless it is destroyed before. Owns: nothing of the agents. Loop thread only. */
#ifndef AGENT_AGENT_WAIT_H
#define AGENT_AGENT_WAIT_H

#include "agent/agent_json.h"

struct agent_wait;

enum agent_wake {
	AGENT_WAKE_news,
	AGENT_WAKE_timeout,
	AGENT_WAKE_gone, /* the awaited agent was removed */
	AGENT_WAKE_user, /* user input arrived and has priority */
};
/* `about` has the news; on a timeout it is one of the awaited agents. The wait is then destroyed. */
typedef void (*agent_wait_fn)(enum agent_wake wake, struct agent *about, void *self);

/* Returns the agent with news; NULL: no news yet. */
typedef struct agent *(*agent_find_fn)(struct agent *waiter, void *self);

struct agent_wait_options {
	struct agent *waiter;
	struct agent *target; /* NULL: any */
	agent_find_fn find;   /* NULL: the target's news */
	uint64_t timeout_ms;
	agent_wait_fn on_end;
	void *self;
};
struct agent_wait *agent_wait_start(const struct agent_wait_options *options);
void agent_wait_destroy(struct agent_wait *wait); /* NULL is fine */

/* Takes the messages that `news.about` sent to the reader, at most LIMIT_AGENT_NEWS bytes; the caller owns them. The
 * rest stays pending. */
void agent_take_news(struct agent *reader, struct agent_news *news);
void agent_news_finish(struct agent_news *news);

/* ---- for agent/ and engine/ ---- */

/* Ends the waits of the waiter with AGENT_WAKE_user. */
void agent_waits_interrupt(struct agent *waiter);
/* To be called when the agent is removed. */
void agent_waits_drop(struct agent *agent);

#endif
