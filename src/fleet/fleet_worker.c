/* The timer of a third of the lease does all that recurs: it renews, and looks for lost workers. */
#include "fleet/fleet_worker.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "fleet/fleet_limits.h"
#include "fleet/fleet_session.h"
#include "fleet/redis_url.h"
#include "fleet/resp.h"
#include "loop/loop.h"

enum { RENEW_AT_ONCE = 500, UNREADY_MS = 200 };

/* An entry of `work` whose decision is pending. */
struct fleet_taking {
	struct list link;
	struct fleet_worker *worker;
	struct str sid, entry;
	bool is_claimed;
};

/* A session that this worker cannot open. */
struct fleet_refused {
	struct str sid;
	uint64_t until_ms;
};

struct fleet_worker {
	struct fleet_worker_options options;
	struct fleet_worker_env env;
	char host[256];
	struct list sessions;
	uint64_t session_count, taking_count, number;
	struct list taking;
	VEC(struct fleet_refused) refused; /* the oldest first */
	struct loop_timer *renew, *patience, *linger;
	struct loop_deferred sweep;
	bool was_up, is_ready, is_draining, is_handing_over, has_ended;
	struct error failure;
};

/* ---- sessions ---- */

static struct fleet_session *find(const struct fleet_worker *worker, struct str sid)
{
	struct fleet_session *it;
	list_for_each(it, &worker->sessions, link) {
		if (!it->is_done && str_eq(it->lease.sid, sid))
			return it;
	}
	return NULL;
}

static uint64_t room(const struct fleet_worker *worker)
{
	uint64_t used = worker->session_count + worker->taking_count;
	return worker->is_draining || used >= worker->options.most_sessions ? 0 : worker->options.most_sessions - used;
}

static void forget_refused(struct fleet_worker *worker, size_t count)
{
	for (size_t i = 0; i < count; i++)
		str_free(&worker->refused.items[i].sid);
	worker->refused.count -= count;
	for (size_t i = 0; i < worker->refused.count; i++)
		worker->refused.items[i] = worker->refused.items[i + count];
}

static void remember_refused(struct fleet_worker *worker, struct str sid)
{
	if (worker->refused.count == LIMIT_FLEET_REFUSED)
		forget_refused(worker, 1);
	vec_push(&worker->refused, (struct fleet_refused){str_copy(sid), clock_now_ms() + LIMIT_FLEET_REFUSED_MS});
}

static bool is_refused(struct fleet_worker *worker, struct str sid)
{
	size_t old = 0;
	while (old < worker->refused.count && worker->refused.items[old].until_ms <= clock_now_ms())
		old++;
	if (old)
		forget_refused(worker, old);
	vec_for_each(refused, &worker->refused) {
		if (str_eq(refused->sid, sid))
			return true;
	}
	return false;
}

static void end(struct fleet_worker *worker, const struct error *err)
{
	if (worker->has_ended)
		return;
	worker->has_ended = true;
	worker->options.on_end(err, worker->options.self);
}

static void end_drained(struct fleet_worker *worker)
{
	if (!worker->is_draining || worker->session_count || worker->taking_count || worker->has_ended)
		return;
	fleet_store_leave(worker->env.store);
	end(worker, NULL);
}

static void on_sweep(void *self)
{
	struct fleet_worker *worker = self;
	struct fleet_session *it;
	list_for_each(it, &worker->sessions, link) {
		if (!it->is_done)
			continue;
		list_remove(&it->link);
		worker->session_count--;
		if (it->is_refused)
			remember_refused(worker, it->lease.sid);
		fleet_session_destroy(it);
	}
	fleet_store_want(worker->env.store, room(worker));
	end_drained(worker);
}

static void on_done(struct fleet_session *session, void *self)
{
	struct fleet_worker *worker = self;
	(void)session;
	loop_defer(&worker->sweep);
}

/* ---- leases ---- */

static void on_renewed(const struct resp *reply, void *self)
{
	struct fleet_worker *worker = self;
	struct error err;
	bool is_final = fleet_is_error(reply, "NOPERM") || fleet_is_error(reply, "WRONGTYPE");
	if (is_final && !worker->is_ready) {
		error_set(&err, ERR_denied, "%s: the lease was refused: %.*s", worker->options.url->shown,
		          STR_ARG(reply->text));
		end(worker, &err);
	}
	if (!reply || reply->type == RESP_error)
		return;
	for (size_t i = 0; i + 1 < reply->count; i += 2) {
		struct fleet_session *session = find(worker, resp_text(resp_at(reply, i)));
		if (session && str_is(resp_text(resp_at(reply, i + 1)), "gone"))
			fleet_session_restore(session);
		else if (session)
			fleet_session_lose(session);
	}
	if (!worker->is_ready && !worker->is_draining) {
		worker->is_ready = true;
		fleet_store_want(worker->env.store, room(worker));
		worker->options.on_ready(worker->options.self);
	}
}

/* In parts, so that no call occupies the store for long. */
static void renew(struct fleet_worker *worker)
{
	VEC(struct fleet_lease) leases = {0};
	struct fleet_session *it;
	bool is_sent = false;
	list_for_each(it, &worker->sessions, link) {
		if (!it->is_done)
			vec_push(&leases, it->lease);
		if (leases.count < RENEW_AT_ONCE)
			continue;
		is_sent = fleet_store_renew(worker->env.store, leases.items, leases.count, worker->session_count,
		                            worker->is_draining, on_renewed, worker);
		leases.count = 0;
	}
	if (leases.count || !is_sent)
		fleet_store_renew(worker->env.store, leases.items, leases.count, worker->session_count,
		                  worker->is_draining, on_renewed, worker);
	vec_finish(&leases);
}

static void on_renew(void *self)
{
	struct fleet_worker *worker = self;
	if (worker->has_ended)
		return;
	renew(worker);
	if (worker->is_ready)
		fleet_store_reap(worker->env.store, room(worker));
	loop_timer_start(worker->renew, worker->is_ready ? worker->options.lease_ms / 3 : UNREADY_MS);
}

/* ---- taking ---- */

static void taking_destroy(struct fleet_taking *taking)
{
	list_remove(&taking->link);
	taking->worker->taking_count--;
	str_free(&taking->sid);
	str_free(&taking->entry);
	free(taking);
}

static void own(struct fleet_worker *worker, struct str sid, const struct resp *reply)
{
	struct fleet_session *old = find(worker, sid);
	if (old) /* the store has given it a new epoch, so the old one can store nothing */
		fleet_session_lose(old);
	struct fleet_session *session = fleet_session_create(&worker->env, sid, reply, worker->number++);
	list_append(&worker->sessions, &session->link);
	worker->session_count++;
	if (worker->is_handing_over)
		fleet_session_hand_over(session);
}

static void on_taken(const struct resp *reply, void *self)
{
	struct fleet_taking *taking = self;
	struct fleet_worker *worker = taking->worker;
	struct str what = resp_text(resp_at(reply, 0));
	struct fleet_session *session;
	if (str_is(what, "taken"))
		own(worker, taking->sid, reply);
	else if (str_is(what, "mine") && (session = find(worker, taking->sid)))
		fleet_session_look(session);
	else if (str_is(what, "gone") && (session = find(worker, taking->sid)))
		fleet_session_restore(session);
	else if (fleet_is_error(reply,
	                        "WRONGTYPE")) /* no worker can take it; after other errors it is claimed again later */
		fleet_store_discard(worker->env.store, taking->entry, STR_NONE);
	taking_destroy(taking);
	fleet_store_want(worker->env.store, room(worker));
	end_drained(worker);
}

static void on_work(struct str sid, struct str entry, bool is_claimed, void *self)
{
	struct fleet_worker *worker = self;
	/* a read from before the drain has returned, perhaps with what this worker has handed over */
	if (worker->is_draining && !find(worker, sid)) {
		fleet_store_discard(worker->env.store, entry, sid);
		return;
	}
	/* a read and a search that were under way at the same time may find more than there is room for */
	if (is_refused(worker, sid) || (!room(worker) && !find(worker, sid))) {
		fleet_store_pass(worker->env.store, entry, sid);
		loop_defer(&worker->sweep); /* there may be room for another one */
		return;
	}
	struct fleet_taking *taking = xnew(struct fleet_taking);
	*taking = (struct fleet_taking){
		.worker = worker, .sid = str_copy(sid), .entry = str_copy(entry), .is_claimed = is_claimed};
	list_init(&taking->link);
	list_append(&worker->taking, &taking->link);
	worker->taking_count++;
	if (!fleet_store_take(worker->env.store, taking->sid, taking->entry, is_claimed, find(worker, sid) != NULL,
	                      on_taken, taking))
		taking_destroy(taking); /* delivered again when the store is up */
}

static void on_look(struct str sid, void *self)
{
	struct fleet_session *session = find(self, sid);
	if (session)
		fleet_session_look(session);
}

/* ---- the store ---- */

static void on_up(void *self)
{
	struct fleet_worker *worker = self;
	struct fleet_session *it;
	worker->was_up = true;
	loop_timer_stop(worker->patience);
	on_renew(worker);
	list_for_each(it, &worker->sessions, link)
		fleet_session_on_up(it);
	fleet_store_want(worker->env.store, room(worker));
}

static void on_down(const struct error *err, void *self)
{
	struct fleet_worker *worker = self;
	worker->failure = *err;
	if (!worker->was_up && err->code == ERR_denied)
		end(worker, err);
}

static void on_patience(void *self)
{
	struct fleet_worker *worker = self;
	end(worker, &worker->failure);
}

static void on_linger(void *self)
{
	struct fleet_worker *worker = self;
	struct fleet_session *it;
	if (worker->is_handing_over) { /* the store cannot be reached: the leases run out */
		end(worker, NULL);
		return;
	}
	worker->is_handing_over = true;
	list_for_each(it, &worker->sessions, link)
		fleet_session_hand_over(it);
	loop_timer_start(worker->linger, LIMIT_FLEET_LINGER_MS);
}

static void on_drain(void *self)
{
	fleet_worker_drain(self);
}

void fleet_worker_drain(struct fleet_worker *worker)
{
	struct fleet_session *it;
	if (worker->is_draining)
		return;
	worker->is_draining = worker->env.is_draining = true;
	fleet_store_want(worker->env.store, 0);
	renew(worker);
	loop_timer_start(worker->linger, worker->options.drain_ms);
	list_for_each(it, &worker->sessions, link)
		fleet_session_drain(it);
	loop_defer(&worker->sweep);
}

/* ---- lifetime ---- */

struct fleet_worker *fleet_worker_create(const struct fleet_worker_options *options, struct error *err)
{
	static const struct fleet_store_events events = {on_up, on_down, on_work, on_look, on_drain};
	struct fleet_worker *worker = xnew(struct fleet_worker);
	worker->options = *options;
	gethostname(worker->host, sizeof(worker->host) - 1);
	list_init(&worker->sessions);
	list_init(&worker->taking);
	worker->renew = loop_timer_create(options->loop, on_renew, worker);
	worker->patience = loop_timer_create(options->loop, on_patience, worker);
	worker->linger = loop_timer_create(options->loop, on_linger, worker);
	loop_deferred_init(&worker->sweep, options->loop, on_sweep, worker);
	error_set(&worker->failure, ERR_connect, "%s: no connection", options->url->shown);
	struct fleet_store_options store = {
		.loop = options->loop,
		.url = options->url,
		.namespace = options->namespace,
		.name = options->name,
		.host = worker->host,
		.pid = getpid(),
		.lease_ms = options->lease_ms,
		.most_sessions = options->most_sessions,
		.max_crashes = options->max_crashes,
		.events_kept = options->events_kept,
	};
	worker->env = (struct fleet_worker_env){
		.loop = options->loop,
		.services = options->services,
		.config = options->config,
		.cwd = options->cwd,
		.folders = {options->folders[0], options->folders[1]},
		.idle_ms = options->idle_ms,
		.on_done = on_done,
		.self = worker,
	};
	worker->env.store = fleet_store_create(&store, &events, worker, err);
	if (!worker->env.store) {
		fleet_worker_destroy(worker);
		return NULL;
	}
	loop_timer_start(worker->patience, LIMIT_FLEET_CONNECT_MS);
	return worker;
}

void fleet_worker_destroy(struct fleet_worker *worker)
{
	struct fleet_session *session;
	struct fleet_taking *taking;
	if (!worker)
		return;
	list_for_each(session, &worker->sessions, link)
		fleet_session_destroy(session);
	list_for_each(taking, &worker->taking, link)
		taking_destroy(taking);
	fleet_store_destroy(worker->env.store);
	loop_timer_destroy(worker->renew);
	loop_timer_destroy(worker->patience);
	loop_timer_destroy(worker->linger);
	loop_deferred_finish(&worker->sweep);
	forget_refused(worker, worker->refused.count);
	vec_finish(&worker->refused);
	free(worker);
}

struct fleet_worker_state fleet_worker_get_state(const struct fleet_worker *worker)
{
	return (struct fleet_worker_state){
		.is_ready = worker->is_ready && !worker->is_draining && fleet_store_is_up(worker->env.store),
		.sessions = worker->session_count,
		.tasks = worker->env.counts.tasks,
		.takeovers = worker->env.counts.takeovers,
		.fenced = worker->env.counts.fenced,
		.events = worker->env.counts.events,
	};
}
