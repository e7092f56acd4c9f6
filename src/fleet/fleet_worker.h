/* fleet_worker.h — one worker: takes sessions of a namespace, renews their leases, takes over those of lost workers,
 * and drains.
 *
 * Owns: the store and the sessions. Borrows: the rest of the options. Loop thread only. */
#ifndef FLEET_FLEET_WORKER_H
#define FLEET_FLEET_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct config;
struct fleet_worker;
struct loop;
struct redis_url;
struct services;

struct fleet_worker_options {
	struct loop *loop;
	struct services *services;
	struct config *config;
	const struct redis_url *url;
	const char *namespace, *name, *cwd;
	const char *folders[2]; /* for rollouts; the second one is used when the first one cannot be written */
	uint64_t most_sessions, lease_ms, idle_ms, drain_ms, max_crashes, events_kept;
	void (*on_ready)(void *self);
	/* The worker has drained (err is NULL), or cannot work: destroy it outside of this call. */
	void (*on_end)(const struct error *err, void *self);
	void *self;
};

must_check struct fleet_worker *fleet_worker_create(const struct fleet_worker_options *options, struct error *err);
/* Takes no new sessions, lets the idle ones go, waits for running tasks, and then calls on_end. */
void fleet_worker_drain(struct fleet_worker *worker);
void fleet_worker_destroy(struct fleet_worker *worker); /* NULL is fine */

/* For the administration. */
struct fleet_worker_state {
	bool is_ready; /* it takes sessions */
	uint64_t sessions, tasks, takeovers, fenced, events;
};
struct fleet_worker_state fleet_worker_get_state(const struct fleet_worker *worker);

#endif
