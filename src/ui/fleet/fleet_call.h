/* fleet_call.h — a client of the store for one command of `codex fleet`: connects, runs, ends the loop.
 *
 * Owns: the loop and the store. Loop thread only. */
#ifndef UI_FLEET_CALL_H
#define UI_FLEET_CALL_H

#include "base/buf.h"
#include "base/error.h"
#include "fleet/fleet_store.h"
#include "fleet/redis_url.h"
#include "ui/fleet/fleet_options.h"

struct fleet_call {
	const struct fleet_options *options;
	const char *argument; /* the positional, or NULL */
	struct loop *loop;
	struct redis_url url;
	struct fleet_store *store;
	struct loop_timer *patience;
	struct error failure; /* the last one of the connection */
	int status;           /* the exit status */
	bool was_up;
	void (*on_up)(struct fleet_call *call); /* sends the first command; again after a reconnect */
	void *state;
};

/* Reads the address and the namespace that the options or the environment name. ERR_usage. */
must_check int fleet_read_address(const struct fleet_options *options, struct redis_url *ret_url,
                                  const char **ret_namespace, struct error *err);
/* Connects, calls on_up, and runs until fleet_call_end. Returns the exit status. */
int fleet_call_run(struct fleet_call *call);
void fleet_call_end(struct fleet_call *call, int status);
/* Sends a command whose words were written with resp.h. */
void fleet_call_send(struct fleet_call *call, const struct buf *commands, unsigned replies, redis_reply_fn fn);
/* True if the reply is an error, which is then printed; the call ends with 1. */
bool fleet_call_failed(struct fleet_call *call, const struct resp *reply);

/* The commands; each returns the exit status. */
int fleet_submit_run(struct fleet_call *call);
int fleet_watch_run(struct fleet_call *call);
int fleet_ls_run(struct fleet_call *call);
int fleet_workers_run(struct fleet_call *call);
int fleet_dead_run(struct fleet_call *call);
int fleet_drain_run(struct fleet_call *call);
int fleet_requeue_run(struct fleet_call *call);

/* `codex worker`. */
int worker_main(int argc, char **argv);

#endif
