/* Work and leases: blocking reads of `work` and of w:NAME:in, the renewal of leases, the search for lost workers. */
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "fleet/fleet_limits.h"
#include "fleet/fleet_store_priv.h"
#include "fleet/resp.h"

bool fleet_is_error(const struct resp *reply, const char *word)
{
	return reply && reply->type == RESP_error && str_find(reply->text, str_of(word)) >= 0;
}

struct str fleet_field(const struct resp *entry, const char *name)
{
	const struct resp *fields = resp_at(entry, 1);
	for (size_t i = 0; i + 1 < fields->count; i += 2) {
		if (str_is(resp_text(resp_at(fields, i)), name))
			return resp_text(resp_at(fields, i + 1));
	}
	return STR_NONE;
}

/* Passes entries of `work` on and returns how many. One that names no session is removed: nothing can be done with it,
 * and it takes no room. */
static size_t take_entries(struct fleet_store *store, const struct resp *entries, bool is_claimed)
{
	size_t count = 0;
	for (size_t i = 0; i < entries->count; i++) {
		const struct resp *entry = resp_at(entries, i);
		struct str id = resp_text(resp_at(entry, 0)), sid = fleet_field(entry, "sid");
		if (!id.ptr) /* before Redis 7 a deleted entry is nil here */
			continue;
		if (!fleet_name_is_valid(sid, false)) {
			fleet_store_discard(store, id, STR_NONE);
			continue;
		}
		store->events->on_work(sid, id, is_claimed, store->self);
		count++;
	}
	return count;
}

/* ---- the group ---- */

static void on_group_made(const struct resp *reply, void *self)
{
	struct fleet_store *store = self;
	if (!reply || reply->type == RESP_error)
		loop_timer_start(store->again, LIMIT_FLEET_AGAIN_MS);
	else
		fleet_store_read_work(store);
}

bool fleet_store_make_group(struct fleet_store *store, redis_reply_fn fn)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	resp_begin(&out, 6);
	resp_word(&out, STR("XGROUP"));
	resp_word(&out, STR("CREATE"));
	fleet_store_key(store, &out, "work", STR(""), "");
	resp_word(&out, STR("workers"));
	resp_word(&out, STR("0"));
	resp_word(&out, STR("MKSTREAM"));
	return redis_link_send(store->link, buf_str(&out), 1, fn, store);
}

/* The stream was deleted, so the group has to be made again. */
static void make_group_again(struct fleet_store *store)
{
	if (!fleet_store_make_group(store, on_group_made))
		loop_timer_start(store->again, LIMIT_FLEET_AGAIN_MS);
}

/* ---- reading work ---- */

static void on_work(const struct resp *reply, void *self)
{
	struct fleet_store *store = self;
	store->work.is_reading = false;
	if (!reply)
		return;
	if (fleet_is_error(reply, "NOGROUP")) {
		make_group_again(store);
		return;
	}
	if (reply->type == RESP_error) {
		loop_timer_start(store->again, LIMIT_FLEET_AGAIN_MS);
		return;
	}
	redis_link_works(store->work.link);
	uint64_t before = store->room;
	size_t count = take_entries(store, resp_at(resp_at(reply, 0), 1), false);
	if (store->room == before) /* the owner counts what it was given when it takes it */
		store->room -= count < store->room ? count : store->room;
	fleet_store_read_work(store);
}

void fleet_store_read_work(struct fleet_store *store)
{
	auto_buf struct buf out;
	uint64_t count = store->room < LIMIT_FLEET_READ ? store->room : LIMIT_FLEET_READ;
	buf_init(&out, 4 * KIB);
	if (!store->is_up || store->work.is_reading || !count)
		return;
	resp_begin(&out, 11);
	resp_word(&out, STR("XREADGROUP"));
	resp_word(&out, STR("GROUP"));
	resp_word(&out, STR("workers"));
	resp_word(&out, str_of(store->options.name));
	resp_word(&out, STR("COUNT"));
	resp_number(&out, count);
	resp_word(&out, STR("BLOCK"));
	resp_number(&out, LIMIT_FLEET_BLOCK_MS);
	resp_word(&out, STR("STREAMS"));
	fleet_store_key(store, &out, "work", STR(""), "");
	resp_word(&out, STR(">"));
	store->work.is_reading = redis_link_send(store->work.link, buf_str(&out), 1, on_work, store);
}

void fleet_store_want(struct fleet_store *store, uint64_t room)
{
	store->room = room;
	fleet_store_read_work(store);
}

static void find_own(struct fleet_store *store, struct str cursor);

static void on_recovered(const struct resp *reply, void *self)
{
	struct fleet_store *store = self;
	struct str cursor = resp_text(resp_at(reply, 0));
	if (!reply || reply->type != RESP_list)
		return;
	redis_link_works(store->link);
	take_entries(store, resp_at(reply, 1), false);
	if (cursor.ptr && !str_is(cursor, "0-0"))
		find_own(store, cursor);
}

/* lease_ms: STR_NONE for the entries that this worker has. */
static void reap(struct fleet_store *store, struct str lease_ms, struct str cursor, uint64_t count, redis_reply_fn fn)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	fleet_store_script(store, &out, SCRIPT_reap, 4);
	resp_word(&out, str_of(store->options.name));
	resp_word(&out, lease_ms.ptr ? lease_ms : STR(""));
	resp_word(&out, cursor);
	resp_number(&out, count < LIMIT_FLEET_READ ? count : LIMIT_FLEET_READ);
	redis_link_send(store->link, buf_str(&out), 1, fn, store);
}

static void find_own(struct fleet_store *store, struct str cursor)
{
	reap(store, STR_NONE, cursor, LIMIT_FLEET_READ, on_recovered);
}

void fleet_store_recover(struct fleet_store *store)
{
	find_own(store, STR("0-0"));
}

/* ---- messages to this worker ----
 *
 * A worker without room takes no work, so it also looks at what arrives for the sessions that it has. */

static void take_call(struct fleet_store *store, const struct resp *entry)
{
	struct str id = resp_text(resp_at(entry, 0)), sid = fleet_field(entry, "sid");
	if (!id.ptr)
		return;
	str_free(&store->call_id);
	store->call_id = str_copy(id);
	if (sid.ptr)
		store->events->on_look(sid, store->self);
	else if (str_is(fleet_field(entry, "cmd"), "drain"))
		store->events->on_drain(store->self);
}

/* An entry that no worker has been given yet, while this one is full: it may be for a session that it has. */
static void peek(struct fleet_store *store, const struct resp *entry)
{
	struct str id = resp_text(resp_at(entry, 0)), sid = fleet_field(entry, "sid");
	if (!id.ptr)
		return;
	str_free(&store->peek_id);
	store->peek_id = str_copy(id);
	if (sid.ptr)
		store->events->on_look(sid, store->self);
}

static void on_calls(const struct resp *reply, void *self)
{
	struct fleet_store *store = self;
	store->calls.is_reading = false;
	if (!reply)
		return;
	if (reply->type == RESP_error) {
		loop_timer_start(store->again, LIMIT_FLEET_AGAIN_MS);
		return;
	}
	redis_link_works(store->calls.link);
	for (size_t k = 0; k < reply->count; k++) {
		const struct resp *entries = resp_at(resp_at(reply, k), 1);
		bool is_work = str_has_suffix(resp_text(resp_at(resp_at(reply, k), 0)), ":work");
		for (size_t i = 0; i < entries->count; i++)
			(is_work ? peek : take_call)(store, resp_at(entries, i));
	}
	fleet_store_read_calls(store);
}

void fleet_store_read_calls(struct fleet_store *store)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	if (!store->is_up || store->calls.is_reading)
		return;
	bool is_full = !store->room;
	resp_begin(&out, is_full ? 10 : 8);
	resp_word(&out, STR("XREAD"));
	resp_word(&out, STR("COUNT"));
	resp_number(&out, LIMIT_FLEET_READ);
	resp_word(&out, STR("BLOCK"));
	resp_number(&out, LIMIT_FLEET_BLOCK_MS);
	resp_word(&out, STR("STREAMS"));
	fleet_store_key(store, &out, "w:", str_of(store->options.name), ":in");
	if (is_full)
		fleet_store_key(store, &out, "work", STR(""), "");
	resp_word(&out, store->call_id);
	if (is_full)
		resp_word(&out, store->peek_id);
	store->calls.is_reading = redis_link_send(store->calls.link, buf_str(&out), 1, on_calls, store);
}

/* ---- leases ---- */

bool fleet_store_renew(struct fleet_store *store, const struct fleet_lease *leases, size_t count, uint64_t sessions,
                       bool is_draining, redis_reply_fn fn, void *self)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_REDIS_REPLY);
	fleet_store_script(store, &out, SCRIPT_renew, 8 + 2 * count);
	resp_word(&out, str_of(store->options.name));
	resp_number(&out, store->options.lease_ms);
	resp_word(&out, str_of(store->options.host));
	resp_number(&out, (uint64_t)store->options.pid);
	resp_number(&out, sessions);
	resp_number(&out, store->options.most_sessions);
	resp_number(&out, is_draining);
	resp_number(&out, (uint64_t)clock_unix_ms());
	for (size_t i = 0; i < count; i++) {
		resp_word(&out, leases[i].sid);
		resp_number(&out, leases[i].epoch);
	}
	return store->is_up && redis_link_send(store->link, buf_str(&out), 1, fn, self);
}

static void on_claimed(const struct resp *reply, void *self)
{
	struct fleet_store *store = self;
	if (!reply || reply->type != RESP_list)
		return;
	str_free(&store->cursor);
	store->cursor = str_copy(resp_text(resp_at(reply, 0)).ptr ? resp_text(resp_at(reply, 0)) : STR("0-0"));
	take_entries(store, resp_at(reply, 1), true);
}

void fleet_store_reap(struct fleet_store *store, uint64_t room)
{
	char lease_ms[24];
	snprintf(lease_ms, sizeof(lease_ms), "%llu", (unsigned long long)store->options.lease_ms);
	if (store->is_up && room)
		reap(store, str_of(lease_ms), store->cursor, room, on_claimed);
}

void fleet_store_leave(struct fleet_store *store)
{
	auto_buf struct buf out;
	struct str name = str_of(store->options.name);
	buf_init(&out, 4 * KIB);
	resp_begin(&out, 3);
	resp_word(&out, STR("DEL"));
	fleet_store_key(store, &out, "w:", name, "");
	fleet_store_key(store, &out, "w:", name, ":in");
	resp_begin(&out, 3);
	resp_word(&out, STR("ZREM"));
	fleet_store_key(store, &out, "workers", STR(""), "");
	resp_word(&out, name);
	redis_link_send(store->link, buf_str(&out), 2, NULL, NULL);
}
