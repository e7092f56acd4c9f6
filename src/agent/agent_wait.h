/* agent_wait.h — somebody waits for news: of one agent, or of any that may have some (subagents 3.5).
 *
 * News are messages in the waiter's inbox and ends of its children. A wait runs its callback once, from the loop,
 * unless it is ended before. Owns: nothing of the agents. Loop thread only. */
#ifndef AGENT_AGENT_WAIT_H
#define AGENT_AGENT_WAIT_H

#include "agent/agent_json.h"

struct agent_wait;

enum agent_wake {
	AGENT_WAKE_news,
	AGENT_WAKE_timeout,
	AGENT_WAKE_gone, /* the one waited for is known no more */
	AGENT_WAKE_user, /* the user has said something: they come first */
};
/* `about` has the news (timeout: the one waited for longest). The wait is over and gone. */
typedef void (*agent_wait_fn)(enum agent_wake wake, struct agent *about, void *self);

/* Who has what is waited for; NULL: nobody yet. */
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

/* Takes what `news.about` has sent to the reader, as much as one answer can hold (LIMIT_AGENT_NEWS); the messages are
 * the caller's. The rest stays, and is news. */
void agent_take_news(struct agent *reader, struct agent_news *news);
void agent_news_finish(struct agent_news *news);

/* ---- for agent/ and engine/ ---- */

/* The user has spoken to the waiter. */
void agent_waits_interrupt(struct agent *waiter);
/* The agent is going away. */
void agent_waits_drop(struct agent *agent);

#endif
