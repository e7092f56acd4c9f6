/* fleet_store_priv.h — the struct of the store, for the files of fleet_store.h. */
#ifndef FLEET_FLEET_STORE_PRIV_H
#define FLEET_FLEET_STORE_PRIV_H

#include "base/buf.h"
#include "fleet/fleet_store.h"
#include "loop/loop.h"

enum fleet_script {
	SCRIPT_take,
	SCRIPT_emit,
	SCRIPT_release,
	SCRIPT_renew,
	SCRIPT_requeue,
	SCRIPT_discard,
	SCRIPT_reap,
	SCRIPT_pack,
	SCRIPT_pass,
	SCRIPT_read,
	SCRIPT_count
};
enum { SHA_TEXT = 41 };

/* A connection that waits in a blocking read. */
struct fleet_reader {
	struct fleet_store *store;
	struct redis_link *link;
	bool is_reading;
};

struct fleet_store {
	struct fleet_store_options options;
	const struct fleet_store_events *events;
	void *self;
	char *prefix; /* "codex:{NAMESPACE}:" */
	struct tls_server *tls;
	struct redis_link *link;
	struct fleet_reader work, calls;
	struct loop_timer *again; /* reads again after an error */
	char hashes[SCRIPT_count][SHA_TEXT];
	unsigned missing; /* scripts that are not loaded on this connection */
	uint64_t room;
	bool is_up, has_cleared;
	struct str call_id; /* the last message of w:NAME:in */
	struct str peek_id; /* the last entry of `work` that was looked at without taking it */
	struct str cursor;  /* of the search for lost workers */
};

/* Creates the group of workers, and with it the stream of their work. False: the connection is down. */
bool fleet_store_make_group(struct fleet_store *store, redis_reply_fn fn);
void fleet_store_read_work(struct fleet_store *store);
void fleet_store_read_calls(struct fleet_store *store);
/* Begins a call of a script; `count` words of arguments follow. */
void fleet_store_script(const struct fleet_store *store, struct buf *out, enum fleet_script script, size_t count);
/* Asks for entries that this worker has been given; it may not have seen the delivery. */
void fleet_store_recover(struct fleet_store *store);

#endif
