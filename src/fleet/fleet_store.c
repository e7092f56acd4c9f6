/* The connection for commands, the scripts and the calls about one session. */
#include "fleet/fleet_store.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "fleet/fleet_limits.h"
#include "fleet/fleet_script.h"
#include "fleet/fleet_store_priv.h"
#include "fleet/redis_url.h"
#include "fleet/resp.h"
#include "net/tls_server.h"

bool fleet_name_is_valid(struct str name, bool is_namespace)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		if (!isalnum((unsigned char)c) && c != '_' && c != '-' && (c != '.' || !is_namespace))
			return false;
	}
	return name.len >= 1 && name.len <= 64;
}

void fleet_store_key(const struct fleet_store *store, struct buf *out, const char *before, struct str middle,
                     const char *after)
{
	auto_buf struct buf key;
	buf_init(&key, 1 * KIB);
	buf_printf(&key, "%s%s%.*s%s", store->prefix, before, STR_ARG(middle), after);
	resp_word(out, buf_str(&key));
}

bool fleet_store_command(struct fleet_store *store, struct str commands, unsigned replies, redis_reply_fn fn,
                         void *self)
{
	return redis_link_send(store->link, commands, replies, fn, self);
}

void fleet_store_script(const struct fleet_store *store, struct buf *out, enum fleet_script script, size_t count)
{
	resp_begin(out, 4 + count);
	resp_word(out, STR("EVALSHA"));
	resp_word(out, str_of(store->hashes[script]));
	resp_word(out, STR("1"));
	fleet_store_key(store, out, "work", STR(""), "");
}

/* ---- coming up ---- */

static void on_group(const struct resp *reply, void *self)
{
	struct fleet_store *store = self;
	if (!reply)
		return;
	/* an error is BUSYGROUP, which is fine, or appears again with the first read */
	store->is_up = true;
	if (store->options.name) {
		fleet_store_recover(store);
		fleet_store_read_work(store);
		fleet_store_read_calls(store);
	}
	store->events->on_up(store->self);
}

/* A worker that starts removes messages to an earlier one of its name. */
static void make_group(struct fleet_store *store)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	if (store->options.name && !store->has_cleared) {
		resp_begin(&out, 2);
		resp_word(&out, STR("DEL"));
		fleet_store_key(store, &out, "w:", str_of(store->options.name), ":in");
		redis_link_send(store->link, buf_str(&out), 1, NULL, NULL);
		store->has_cleared = true;
	}
	fleet_store_make_group(store, on_group);
}

static void on_script(const struct resp *reply, void *self)
{
	struct fleet_store *store = self;
	struct str hash = resp_text(reply);
	unsigned at = SCRIPT_count - store->missing;
	if (!reply || !store->missing)
		return;
	if (hash.len != SHA_TEXT - 1) {
		store->missing = 0;
		redis_link_fail(store->link, fleet_is_error(reply, "NOPERM") ? ERR_denied : ERR_connect,
		                "cannot load a script: ", reply->text);
		return;
	}
	memcpy(store->hashes[at], hash.ptr, hash.len);
	if (--store->missing)
		return;
	if (store->options.name) {
		make_group(store);
		return;
	}
	store->is_up = true;
	redis_link_works(store->link);
	store->events->on_up(store->self);
}

static void on_link_up(void *self)
{
	struct fleet_store *store = self;
	const struct str scripts[SCRIPT_count] = {
		fleet_script_take,    fleet_script_emit, fleet_script_release, fleet_script_renew, fleet_script_requeue,
		fleet_script_discard, fleet_script_reap, fleet_script_pack,    fleet_script_pass,  fleet_script_read};
	store->missing = SCRIPT_count;
	for (size_t i = 0; i < SCRIPT_count; i++) {
		auto_buf struct buf out;
		buf_init(&out, 64 * KIB);
		resp_begin(&out, 3);
		resp_word(&out, STR("SCRIPT"));
		resp_word(&out, STR("LOAD"));
		resp_word(&out, scripts[i]);
		redis_link_send(store->link, buf_str(&out), 1, on_script, store);
	}
}

static void on_link_down(const struct error *err, void *self)
{
	struct fleet_store *store = self;
	store->is_up = false;
	store->events->on_down(err, store->self);
}

static void on_reader_down(const struct error *err, void *self)
{
	struct fleet_reader *reader = self;
	reader->is_reading = false;
	reader->store->events->on_down(err, reader->store->self);
}

static void on_work_up(void *self)
{
	fleet_store_read_work(((struct fleet_reader *)self)->store);
}

static void on_calls_up(void *self)
{
	fleet_store_read_calls(((struct fleet_reader *)self)->store);
}

static void read_again(void *self)
{
	struct fleet_store *store = self;
	fleet_store_read_work(store);
	fleet_store_read_calls(store);
}

struct fleet_store *fleet_store_create(const struct fleet_store_options *options,
                                       const struct fleet_store_events *events, void *self, struct error *err)
{
	static const struct redis_link_events link_events = {on_link_up, on_link_down};
	static const struct redis_link_events work_events = {on_work_up, on_reader_down};
	static const struct redis_link_events call_events = {on_calls_up, on_reader_down};
	struct tls_server *tls = NULL;
	if (options->url->has_tls && !(tls = tls_client_create(config_env_ca_file(), err)))
		return NULL;
	struct fleet_store *store = xnew(struct fleet_store);
	*store = (struct fleet_store){.options = *options, .events = events, .self = self, .tls = tls};
	store->prefix = xasprintf("codex:{%s}:", options->namespace);
	store->call_id = str_copy(STR("0-0"));
	store->peek_id = str_copy(STR("0-0"));
	store->cursor = str_copy(STR("0-0"));
	store->work.store = store->calls.store = store;
	store->again = loop_timer_create(options->loop, read_again, store);
	store->link = redis_link_create(options->loop, options->url, tls, &link_events, store);
	if (options->name) {
		store->work.link = redis_link_create(options->loop, options->url, tls, &work_events, &store->work);
		store->calls.link = redis_link_create(options->loop, options->url, tls, &call_events, &store->calls);
	}
	return store;
}

void fleet_store_destroy(struct fleet_store *store)
{
	if (!store)
		return;
	redis_link_destroy(store->link);
	redis_link_destroy(store->work.link);
	redis_link_destroy(store->calls.link);
	loop_timer_destroy(store->again);
	tls_server_destroy(store->tls);
	str_free(&store->call_id);
	str_free(&store->peek_id);
	str_free(&store->cursor);
	free(store->prefix);
	free(store);
}

bool fleet_store_is_up(const struct fleet_store *store)
{
	return store->is_up;
}

void fleet_store_forget(struct fleet_store *store, const void *self)
{
	redis_link_forget(store->link, self);
}

/* ---- calls about one session ---- */

bool fleet_store_take(struct fleet_store *store, struct str sid, struct str entry, bool is_claimed, bool has_it,
                      redis_reply_fn fn, void *self)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_REDIS_REPLY);
	fleet_store_script(store, &out, SCRIPT_take, 9);
	resp_word(&out, sid);
	resp_word(&out, str_of(store->options.name));
	resp_word(&out, entry);
	resp_number(&out, is_claimed);
	resp_number(&out, has_it);
	resp_number(&out, store->options.max_crashes);
	resp_word(
		&out,
		STR("{\"id\":\"\",\"msg\":{\"type\":\"error\",\"message\":\"This session was put aside: it has lost "));
	resp_word(&out,
	          STR(" workers in a row. `codex fleet requeue` lets it continue.\",\"codex_error_info\":\"other\"}}"));
	resp_number(&out, (uint64_t)clock_unix_ms());
	return store->is_up && redis_link_send(store->link, buf_str(&out), 1, fn, self);
}

void fleet_store_discard(struct fleet_store *store, struct str entry, struct str sid)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	fleet_store_script(store, &out, SCRIPT_discard, 3);
	resp_word(&out, str_of(store->options.name));
	resp_word(&out, entry);
	resp_word(&out, sid.ptr ? sid : STR(""));
	redis_link_send(store->link, buf_str(&out), 1, NULL, NULL);
}

static void begin_pass(struct fleet_store *store, struct buf *out, struct str entry, struct str sid)
{
	fleet_store_script(store, out, SCRIPT_pass, 6);
	resp_word(out, str_of(store->options.name));
	resp_word(out, entry);
	resp_number(out, LIMIT_FLEET_LEASE_MS);
	resp_word(out, sid);
}

void fleet_store_pass(struct fleet_store *store, struct str entry, struct str sid)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	begin_pass(store, &out, entry, sid);
	resp_word(&out, STR(""));
	resp_word(&out, STR(""));
	redis_link_send(store->link, buf_str(&out), 1, NULL, NULL);
}

void fleet_store_untake(struct fleet_store *store, const struct fleet_lease *lease, struct str owner)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	begin_pass(store, &out, STR(""), lease->sid);
	resp_number(&out, lease->epoch);
	resp_word(&out, owner);
	redis_link_send(store->link, buf_str(&out), 1, NULL, NULL);
}

bool fleet_store_read(struct fleet_store *store, struct str sid, const char *stream, struct str after, uint64_t count,
                      redis_reply_fn fn, void *self)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	fleet_store_script(store, &out, SCRIPT_read, 5);
	resp_word(&out, sid);
	resp_word(&out, str_of(stream));
	resp_word(&out, after);
	resp_number(&out, count);
	resp_number(&out, LIMIT_FLEET_READ_BYTES);
	return store->is_up && redis_link_send(store->link, buf_str(&out), 1, fn, self);
}

bool fleet_store_emit(struct fleet_store *store, const struct fleet_lease *lease, const struct fleet_batch *batch,
                      redis_reply_fn fn, void *self)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_REDIS_REPLY);
	fleet_store_script(store, &out, SCRIPT_emit, 10 + batch->event_count + batch->row_count);
	resp_word(&out, lease->sid);
	resp_number(&out, lease->epoch);
	resp_number(&out, batch->seq);
	resp_number(&out, batch->lines);
	resp_word(&out, batch->applied.ptr ? batch->applied : STR(""));
	resp_number(&out, store->options.events_kept);
	resp_word(&out, str_of(store->options.name));
	resp_number(&out, batch->restores);
	resp_number(&out, batch->event_count);
	resp_number(&out, (uint64_t)clock_unix_ms());
	for (size_t i = 0; i < batch->event_count; i++)
		resp_word(&out, batch->events[i]);
	for (size_t i = 0; i < batch->row_count; i++)
		resp_word(&out, batch->rows[i]);
	return store->is_up && !out.over && redis_link_send(store->link, buf_str(&out), 1, fn, self);
}

bool fleet_store_release(struct fleet_store *store, const struct fleet_lease *lease, const char *state, bool requeues,
                         redis_reply_fn fn, void *self)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_REDIS_REPLY);
	fleet_store_script(store, &out, SCRIPT_release, 6);
	resp_word(&out, lease->sid);
	resp_number(&out, lease->epoch);
	resp_word(&out, str_of(state));
	resp_number(&out, store->options.events_kept);
	resp_number(&out, requeues);
	resp_word(&out, str_of(store->options.name));
	return store->is_up && redis_link_send(store->link, buf_str(&out), 1, fn, self);
}

bool fleet_store_pack(struct fleet_store *store, const struct fleet_lease *lease, const struct fleet_chunk *chunk,
                      redis_reply_fn fn, void *self)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_REDIS_REPLY);
	fleet_store_script(store, &out, SCRIPT_pack, 6);
	resp_word(&out, lease->sid);
	resp_number(&out, lease->epoch);
	resp_word(&out, str_of(store->options.name));
	resp_number(&out, chunk->first);
	resp_number(&out, chunk->last);
	resp_word(&out, chunk->packed);
	return store->is_up && redis_link_send(store->link, buf_str(&out), 1, fn, self);
}

bool fleet_store_requeue(struct fleet_store *store, struct str sid, redis_reply_fn fn, void *self)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_REDIS_REPLY);
	fleet_store_script(store, &out, SCRIPT_requeue, 1);
	resp_word(&out, sid);
	return redis_link_send(store->link, buf_str(&out), 1, fn, self);
}
