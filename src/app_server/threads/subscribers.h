/* subscribers.h — the clients that receive a thread's notifications and questions.
 *
 * A slow subscriber holds the thread's Codex until it catches up: as long as it takes if it is the only one, else for
 * at most LIMIT_WATCHER_HOLD_MS. When the last subscriber leaves, calls of clients' tools fail, out-of-band
 * elicitations end, and the thread may be unloaded once it is idle. Borrows: the connections. Loop thread only. */
#ifndef APP_SERVER_SUBSCRIBERS_H
#define APP_SERVER_SUBSCRIBERS_H

#include <stdbool.h>

struct connection;
struct thread;
struct threads;

/* Also sends the thread's pending questions to the client. No-op for a subscriber. */
void subscribers_add(struct thread *thread, struct connection *connection);
/* False if it was not a subscriber. */
bool subscribers_remove(struct thread *thread, const struct connection *connection);
/* The client subscribes to no thread any more. */
void subscribers_forget_client(struct threads *threads, const struct connection *client);
/* Holds or releases each Codex after the pace of a client has changed. */
void subscribers_review_holds(struct threads *threads);

#endif
