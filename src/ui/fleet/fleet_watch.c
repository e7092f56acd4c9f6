/* Follows a session by the numbers of its events: after a reconnect it continues after the last one printed. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "fleet/fleet_limits.h"
#include "fleet/resp.h"
#include "ui/fleet/fleet_call.h"

enum { BLOCK_MS = 5000, NOT_KEPT = 3 };

struct watch {
	uint64_t after;
	bool is_checked; /* the events after the first number are kept */
};

static void read_next(struct fleet_call *call);

static uint64_t number_of(const struct resp *entry)
{
	uint64_t number = 0;
	struct str id = resp_text(resp_at(entry, 0)), head;
	return str_next_part(&id, '-', &head) && str_to_u64(head, &number) ? number : 0;
}

/* Prints {"seq":N,…} with the members of the event. Returns the exit status that the event causes, or -1. */
static int print_event(const struct fleet_call *call, uint64_t number, struct str text)
{
	auto_arena struct arena arena = {0};
	const struct json *event = json_parse(&arena, text, NULL), *msg = json_get(event, "msg");
	struct str type = json_get_str(msg, "type");
	const char *task = call->options->task;
	if (!json_is(event, JSON_object) || !event->child)
		return -1;
	printf("{\"seq\":%llu,%.*s\n", (unsigned long long)number, (int)(event->span.len - 1), event->span.ptr + 1);
	if (str_is(type, "shutdown_complete"))
		return 0;
	if (!task || !str_is(json_get_str(event, "id"), task))
		return -1;
	return str_is(type, "task_complete") ? 0 : str_is(type, "turn_aborted") ? 1 : -1;
}

static void on_events(const struct resp *reply, void *self)
{
	struct fleet_call *call = self;
	struct watch *watch = call->state;
	if (!reply || fleet_call_failed(call, reply))
		return;
	const struct resp *entries = resp_at(resp_at(reply, 0), 1);
	int status = -1;
	for (size_t i = 0; i < entries->count && status < 0; i++) {
		watch->after = number_of(resp_at(entries, i));
		status = print_event(call, watch->after, fleet_field(resp_at(entries, i), "ev"));
	}
	if (fflush(stdout) != 0)
		status = 1;
	if (status < 0)
		read_next(call);
	else
		fleet_call_end(call, status);
}

static void read_next(struct fleet_call *call)
{
	const struct watch *watch = call->state;
	auto_buf struct buf out;
	char id[32];
	buf_init(&out, 4 * KIB);
	snprintf(id, sizeof(id), "%llu-0", (unsigned long long)watch->after);
	resp_begin(&out, 8);
	resp_word(&out, STR("XREAD"));
	resp_word(&out, STR("COUNT"));
	resp_number(&out, LIMIT_FLEET_READ);
	resp_word(&out, STR("BLOCK"));
	resp_number(&out, BLOCK_MS);
	resp_word(&out, STR("STREAMS"));
	fleet_store_key(call->store, &out, "s:", str_of(call->argument), ":eq");
	resp_word(&out, str_of(id));
	fleet_call_send(call, &out, 1, on_events);
}

static void on_first(const struct resp *reply, void *self)
{
	struct fleet_call *call = self;
	struct watch *watch = call->state;
	if (!reply || fleet_call_failed(call, reply))
		return;
	uint64_t first = number_of(resp_at(reply, 0));
	if (first > watch->after + 1) {
		fprintf(stderr, "codex fleet watch: event %llu is not kept any more; the first one is %llu\n",
		        (unsigned long long)watch->after + 1, (unsigned long long)first);
		fleet_call_end(call, NOT_KEPT);
		return;
	}
	watch->is_checked = true;
	read_next(call);
}

static void on_up(struct fleet_call *call)
{
	const struct watch *watch = call->state;
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	if (watch->is_checked) {
		read_next(call);
		return;
	}
	resp_begin(&out, 6);
	resp_word(&out, STR("XRANGE"));
	fleet_store_key(call->store, &out, "s:", str_of(call->argument), ":eq");
	resp_word(&out, STR("-"));
	resp_word(&out, STR("+"));
	resp_word(&out, STR("COUNT"));
	resp_word(&out, STR("1"));
	fleet_call_send(call, &out, 1, on_first);
}

int fleet_watch_run(struct fleet_call *call)
{
	struct watch watch = {0};
	const char *after = call->options->after;
	if (!call->argument || !fleet_name_is_valid(str_of(call->argument), false)) {
		fprintf(stderr, "codex fleet watch: name a session\n");
		return 2;
	}
	if (after && !str_to_u64(str_of(after), &watch.after)) {
		fprintf(stderr, "codex fleet watch: --after %s: expected the number of an event\n", after);
		return 2;
	}
	call->state = &watch;
	call->on_up = on_up;
	return fleet_call_run(call);
}
