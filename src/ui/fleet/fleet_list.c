/* Lists, and the two commands that change something of a worker or a session. Each list reads a sorted set or a stream
 * first, then one hash for each name; the answers come in the order of the names. */
#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "fleet/fleet_limits.h"
#include "fleet/resp.h"
#include "ui/fleet/fleet_call.h"

struct listing {
	const char *set, *key, *const *fields;
	size_t field_count;
	void (*write)(struct json_writer *w, struct str name, const struct resp *values);
	VEC(struct str) names;
	size_t at;
};

static const char *const session_fields[] = {"state", "owner", "seq", "epoch"};
static const char *const worker_fields[] = {"host", "pid", "sessions", "max", "draining"};

static void print_line(const struct buf *line)
{
	printf("%.*s\n", (int)line->len, line->data ? line->data : "");
}

static void write_session(struct json_writer *w, struct str name, const struct resp *values)
{
	struct str state = resp_text(resp_at(values, 0)), owner = resp_text(resp_at(values, 1));
	jw_member_str(w, "session", name);
	jw_member_str(w, "state", state.ptr ? state : STR("idle"));
	jw_member_str(w, "owner", owner.len ? owner : STR_NONE);
	jw_member_i64(w, "seq", (int64_t)resp_u64(resp_at(values, 2)));
	jw_member_i64(w, "epoch", (int64_t)resp_u64(resp_at(values, 3)));
}

static void write_worker(struct json_writer *w, struct str name, const struct resp *values)
{
	jw_member_str(w, "worker", name);
	jw_member_str(w, "host", resp_text(resp_at(values, 0)));
	for (size_t i = 1; i < countof(worker_fields) - 1; i++)
		jw_member_i64(w, worker_fields[i], (int64_t)resp_u64(resp_at(values, i)));
	jw_member_bool(w, "draining", resp_u64(resp_at(values, countof(worker_fields) - 1)) != 0);
}

/* A worker whose key has expired is not listed. */
static void on_hash(const struct resp *reply, void *self)
{
	struct fleet_call *call = self;
	struct listing *listing = call->state;
	if (!reply || fleet_call_failed(call, reply))
		return;
	struct str name = listing->names.items[listing->at++];
	if (resp_at(reply, 0)->type != RESP_nil) {
		auto_buf struct buf line;
		buf_init(&line, 4 * KIB);
		struct json_writer w = json_writer(&line);
		jw_object(&w);
		listing->write(&w, name, reply);
		jw_object_end(&w);
		print_line(&line);
	}
	if (listing->at == listing->names.count)
		fleet_call_end(call, 0);
}

static void on_names(const struct resp *reply, void *self)
{
	struct fleet_call *call = self;
	struct listing *listing = call->state;
	auto_buf struct buf out;
	buf_init(&out, LIMIT_REDIS_REPLY);
	if (!reply || fleet_call_failed(call, reply))
		return;
	for (size_t i = 0; i < reply->count; i++) {
		struct str name = str_copy(resp_text(resp_at(reply, i)));
		vec_push(&listing->names, name);
		resp_begin(&out, 2 + listing->field_count);
		resp_word(&out, STR("HMGET"));
		fleet_store_key(call->store, &out, listing->key, name, "");
		for (size_t k = 0; k < listing->field_count; k++)
			resp_word(&out, str_of(listing->fields[k]));
	}
	if (listing->names.count)
		fleet_call_send(call, &out, (unsigned)listing->names.count, on_hash);
	else
		fleet_call_end(call, 0);
}

static void on_list_up(struct fleet_call *call)
{
	const struct listing *listing = call->state;
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	if (listing->names.count) { /* a second connection: half of the list was printed */
		fprintf(stderr, "codex fleet: %s\n", call->failure.text);
		fleet_call_end(call, 1);
		return;
	}
	resp_begin(&out, 4);
	resp_word(&out, STR("ZRANGE"));
	fleet_store_key(call->store, &out, listing->set, STR(""), "");
	resp_word(&out, STR("0"));
	resp_word(&out, STR("-1"));
	fleet_call_send(call, &out, 1, on_names);
}

static int run_listing(struct fleet_call *call, struct listing *listing)
{
	call->state = listing;
	call->on_up = on_list_up;
	int status = fleet_call_run(call);
	vec_for_each(name, &listing->names)
		str_free(name);
	vec_finish(&listing->names);
	return status;
}

int fleet_ls_run(struct fleet_call *call)
{
	struct listing listing = {"sessions", "s:", session_fields, countof(session_fields), write_session};
	return run_listing(call, &listing);
}

int fleet_workers_run(struct fleet_call *call)
{
	struct listing listing = {"workers", "w:", worker_fields, countof(worker_fields), write_worker};
	return run_listing(call, &listing);
}

/* ---- sessions that were put aside ---- */

static void on_dead(const struct resp *reply, void *self)
{
	struct fleet_call *call = self;
	if (!reply || fleet_call_failed(call, reply))
		return;
	for (size_t i = 0; i < reply->count; i++) {
		auto_buf struct buf line;
		uint64_t deliveries = 0;
		buf_init(&line, 4 * KIB);
		struct json_writer w = json_writer(&line);
		str_to_u64(fleet_field(resp_at(reply, i), "deliveries"), &deliveries);
		jw_object(&w);
		jw_member_str(&w, "session", fleet_field(resp_at(reply, i), "sid"));
		jw_member_i64(&w, "deliveries", (int64_t)deliveries);
		jw_object_end(&w);
		print_line(&line);
	}
	fleet_call_end(call, 0);
}

static void on_dead_up(struct fleet_call *call)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	resp_begin(&out, 4);
	resp_word(&out, STR("XRANGE"));
	fleet_store_key(call->store, &out, "dead", STR(""), "");
	resp_word(&out, STR("-"));
	resp_word(&out, STR("+"));
	fleet_call_send(call, &out, 1, on_dead);
}

int fleet_dead_run(struct fleet_call *call)
{
	call->on_up = on_dead_up;
	return fleet_call_run(call);
}

/* ---- drain, requeue ---- */

static void on_told(const struct resp *reply, void *self)
{
	if (reply && !fleet_call_failed(self, reply))
		fleet_call_end(self, 0);
}

static void on_exists(const struct resp *reply, void *self)
{
	struct fleet_call *call = self;
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	if (!reply || fleet_call_failed(call, reply))
		return;
	if (!reply->integer) {
		fprintf(stderr, "codex fleet drain: there is no worker %s\n", call->argument);
		fleet_call_end(call, 1);
		return;
	}
	resp_begin(&out, 8);
	resp_word(&out, STR("XADD"));
	fleet_store_key(call->store, &out, "w:", str_of(call->argument), ":in");
	resp_word(&out, STR("MAXLEN"));
	resp_word(&out, STR("~"));
	resp_word(&out, STR("10000"));
	resp_word(&out, STR("*"));
	resp_word(&out, STR("cmd"));
	resp_word(&out, STR("drain"));
	fleet_call_send(call, &out, 1, on_told);
}

static void on_drain_up(struct fleet_call *call)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	resp_begin(&out, 2);
	resp_word(&out, STR("EXISTS"));
	fleet_store_key(call->store, &out, "w:", str_of(call->argument), "");
	fleet_call_send(call, &out, 1, on_exists);
}

int fleet_drain_run(struct fleet_call *call)
{
	if (!call->argument) {
		fprintf(stderr, "codex fleet drain: name a worker\n");
		return 2;
	}
	call->on_up = on_drain_up;
	return fleet_call_run(call);
}

static void on_requeued(const struct resp *reply, void *self)
{
	struct fleet_call *call = self;
	if (!reply || fleet_call_failed(call, reply))
		return;
	if (!reply->integer)
		fprintf(stderr, "codex fleet requeue: session %s was not put aside\n", call->argument);
	fleet_call_end(call, reply->integer ? 0 : 1);
}

static void on_requeue_up(struct fleet_call *call)
{
	fleet_store_requeue(call->store, str_of(call->argument), on_requeued, call);
}

int fleet_requeue_run(struct fleet_call *call)
{
	if (!call->argument || !fleet_name_is_valid(str_of(call->argument), false)) {
		fprintf(stderr, "codex fleet requeue: name a session\n");
		return 2;
	}
	call->on_up = on_requeue_up;
	return fleet_call_run(call);
}
