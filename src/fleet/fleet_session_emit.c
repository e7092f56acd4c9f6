/* Events and lines become rows; one call stores the rows of a loop round. An event that only adds to a text waits up to
 * LIMIT_FLEET_DELTA_MS for more of it. */
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "fleet/fleet_limits.h"
#include "fleet/fleet_session_priv.h"
#include "fleet/resp.h"

enum { RETRY_MS = 250 }; /* after an error of the store, such as lack of memory */

/* ---- rows ---- */

static void add_note(struct session_data *session, void (*write)(struct buf *out, const void *arg), const void *arg)
{
	auto_buf struct buf line;
	buf_init(&line, LIMIT_REDIS_REPLY);
	write(&line, arg);
	if (!line.over)
		fleet_rows_add(&session->rows, FLEET_LINE, buf_str(&line));
}

static void write_start(struct buf *out, const void *arg)
{
	fleet_note_task(out, ((const struct event *)arg)->id, false);
}

static void write_end(struct buf *out, const void *arg)
{
	fleet_note_task(out, ((const struct event *)arg)->id, true);
}

static void write_begin(struct buf *out, const void *arg)
{
	fleet_note_event(out, &((const struct event *)arg)->msg);
}

static bool is_delta(enum event_tag tag)
{
	switch (tag) {
	case EV_agent_message_content_delta:
	case EV_reasoning_content_delta:
	case EV_reasoning_raw_content_delta:
	case EV_exec_command_output_delta:
	case EV_plan_delta:
	case EV_patch_apply_updated:
		return true;
	default:
		return false;
	}
}

/* Notes what a later worker needs to know of an event. */
static void note_event(struct session_data *session, const struct event *event)
{
	switch (event->msg.tag) {
	case EV_task_started:
		session->env->counts.tasks++;
		add_note(session, write_start, event);
		break;
	case EV_task_complete:
	case EV_turn_aborted:
		add_note(session, write_end, event);
		break;
	case EV_exec_command_begin:
	case EV_patch_apply_begin:
	case EV_mcp_tool_call_begin:
		add_note(session, write_begin, event);
		break;
	case EV_shutdown_complete:
		session->has_ended = true;
		break;
	default:
		break;
	}
}

static void add_events(struct session_data *session, struct str lines)
{
	struct str line;
	while (str_next_line(&lines, &line)) {
		fleet_rows_add(&session->rows, FLEET_EVENT, line);
		session->env->counts.events++;
	}
}

void fleet_session_on_event(const struct event *event, void *self)
{
	struct session_data *session = self;
	note_event(session, event);
	wire_profile_write(&session->style, event, &session->text);
	add_events(session, buf_str(&session->text));
	buf_reuse(&session->text);
	session->has_urgent |= !is_delta(event->msg.tag);
	loop_defer(&session->flush);
}

void fleet_session_add_error(struct session_data *session, struct str id, const char *text)
{
	struct ev_error body = {.message = str_of(text), .codex_error_info = STR("\"bad_request\"")};
	struct event *event = event_create(id, EV_error, &body);
	fleet_session_on_event(event, session);
	event_destroy(event);
}

/* ---- the sink of the engine ---- */

static void on_lines(void *self, const char *thread_id, struct str lines)
{
	struct session_data *session = self;
	struct str line;
	struct str own = session->codex ? codex_thread_id(session->codex) : STR_NONE;
	bool is_own = !own.ptr || str_is(own, thread_id);
	while (str_next_line(&lines, &line)) {
		auto_buf struct buf note;
		buf_init(&note, LIMIT_REDIS_REPLY);
		if (!is_own)
			fleet_note_line(&note, thread_id, line);
		fleet_rows_add(&session->rows, FLEET_LINE, is_own ? line : buf_str(&note));
	}
	session->has_urgent = true;
	loop_defer(&session->flush);
}

static void on_begin(void *self, const char *thread_id, struct str call_id)
{
	struct session_data *session = self;
	struct buf note;
	buf_init(&note, 64 * KIB);
	fleet_note_begin(&note, thread_id, call_id);
	vec_push(&session->begun, str_copy(buf_str(&note)));
	buf_finish(&note);
}

/* The notes of calls follow the lines of the task that makes them. */
static uint64_t barrier(void *self)
{
	struct session_data *session = self;
	vec_for_each(note, &session->begun) {
		fleet_rows_add(&session->rows, FLEET_LINE, *note);
		str_free(note);
	}
	session->begun.count = 0;
	session->barrier_number++;
	vec_push(&session->barriers,
	         (struct fleet_barrier){session->barrier_number, fleet_rows_position(&session->rows)});
	session->has_urgent = true;
	loop_defer(&session->flush);
	return session->barrier_number;
}

/* Starts the calls whose begin was stored. */
static void pass_barriers(struct session_data *session)
{
	size_t count = 0;
	uint64_t number = 0;
	for (; count < session->barriers.count; count++) {
		if (!fleet_rows_is_stored(&session->rows, session->barriers.items[count].position))
			break;
		number = session->barriers.items[count].number;
	}
	session->barriers.count -= count;
	for (size_t i = 0; i < session->barriers.count; i++)
		session->barriers.items[i] = session->barriers.items[i + count];
	if (number && session->codex)
		codex_settle(session->codex, number);
}

/* ---- backpressure ---- */

static void choose_hold(struct session_data *session)
{
	bool is_full = session->rows.waiting > LIMIT_API_QUEUE;
	if (!session->codex || is_full == session->is_holding)
		return;
	session->is_holding = is_full;
	(is_full ? codex_hold : codex_release)(session->codex);
}

/* ---- storing ---- */

static void on_other(struct session_data *session, uint64_t seq, uint64_t lines)
{
	if (fleet_rows_rewind(&session->rows, seq, lines))
		fleet_session_send(session);
	else
		fleet_session_lose(&session->base);
}

static void on_stored(struct session_data *session)
{
	session->unpacked += fleet_rows_on_stored(&session->rows);
	session->restores = session->has_error = false;
	pass_barriers(session);
	choose_hold(session);
	fleet_session_send(session);
	if (session->phase == FLEET_LETTING_GO)
		fleet_session_release(session);
	else
		fleet_session_apply(session);
}

void fleet_session_restore(struct fleet_session *base)
{
	struct session_data *session = session_data(base);
	if (base->is_done || session->is_emitting || session->phase == FLEET_LOADING)
		return; /* an emit in progress finds out itself */
	session->restores = true;
	fleet_rows_restart(&session->rows);
	fleet_session_send(session);
	fleet_session_look(base);
}

/* Reported once until something is stored again. */
void fleet_session_on_error(struct session_data *session, const struct resp *reply)
{
	bool is_final = fleet_is_error(reply, "WRONGTYPE") || fleet_is_error(reply, "specified in XADD");
	if (!session->has_error || is_final)
		fprintf(stderr, "session %.*s: %s: %.*s\n", STR_ARG(session->base.lease.sid),
		        is_final ? "dropped, its keys are damaged" : "retrying", STR_ARG(reply->text));
	session->has_error = true;
	if (is_final)
		fleet_session_finish(session);
	else
		loop_timer_start(session->delta, RETRY_MS);
}

static void on_emitted(const struct resp *reply, void *self)
{
	struct session_data *session = self;
	struct str state = resp_text(resp_at(reply, 0));
	session->is_emitting = false;
	if (!reply || session->base.is_done)
		return; /* sent again when the connection is up */
	if (str_is(state, "ok")) {
		on_stored(session);
	} else if (str_is(state, "other")) {
		on_other(session, resp_u64(resp_at(reply, 1)), resp_u64(resp_at(reply, 2)));
	} else if (str_is(state, "gone")) {
		fleet_session_restore(&session->base);
	} else if (str_is(state, "fenced")) {
		fleet_session_lose(&session->base);
	} else {
		fleet_session_on_error(session, reply);
	}
}

void fleet_session_send(struct session_data *session)
{
	struct fleet_rows_batch rows;
	choose_hold(session);
	if (session->is_emitting || session->base.is_done || !fleet_store_is_up(session->env->store) ||
	    !fleet_rows_next(&session->rows, &rows))
		return;
	struct fleet_batch batch = {
		.seq = rows.seq,
		.lines = rows.lines_before,
		.applied = rows.applied,
		.events = rows.events.items,
		.event_count = rows.events.count,
		.rows = rows.lines.items,
		.row_count = rows.lines.count,
		.restores = session->restores,
	};
	session->is_emitting = fleet_store_emit(session->env->store, &session->base.lease, &batch, on_emitted, session);
	fleet_rows_batch_finish(&rows);
}

/* Ends the group and stores it. */
static void cut(struct session_data *session)
{
	if (session->is_applying) {
		session->is_applying = false;
		fleet_rows_add(&session->rows, FLEET_APPLIED, session->applied_id);
	}
	session->has_urgent = false;
	fleet_rows_cut(&session->rows);
	fleet_session_send(session);
}

/* True if an op is being applied that has not had all its effects. */
static bool is_midway(const struct session_data *session)
{
	return session->codex && !codex_is_drained(session->codex);
}

static void on_open(struct session_data *session)
{
	session->phase = FLEET_OPEN;
	session->has_urgent = true;
	session->must_read = true;
}

static void on_flush(void *self)
{
	struct session_data *session = self;
	if (session->base.is_done)
		return;
	if (is_midway(session)) {
		if (session->is_applying || session->phase == FLEET_OPENING)
			loop_timer_start(session->settle, session->is_applying ? 2 : 20);
		return;
	}
	loop_timer_stop(session->settle);
	if (session->phase == FLEET_OPENING)
		on_open(session);
	if (session->has_urgent || session->is_applying)
		cut(session);
	else if (fleet_rows_has_tail(&session->rows) && !loop_timer_is_active(session->delta))
		loop_timer_start(session->delta, LIMIT_FLEET_DELTA_MS);
	if (!session->is_emitting)
		fleet_session_apply(session);
}

static void on_delta_timer(void *self)
{
	struct session_data *session = self;
	if (session->base.is_done)
		return;
	if (session->phase == FLEET_LOADING) {
		fleet_session_load(session);
		return;
	}
	if (is_midway(session)) {
		loop_timer_start(session->delta, 2);
		return;
	}
	cut(session);
	if (session->phase == FLEET_LETTING_GO)
		fleet_session_release(session);
	else if (!session->is_emitting)
		fleet_session_apply(session);
}

void fleet_session_init_emit(struct session_data *session)
{
	struct loop *loop = session->env->loop;
	session->sink =
		(struct rollout_sink){.on_lines = on_lines, .on_begin = on_begin, .barrier = barrier, .self = session};
	buf_init(&session->text, LIMIT_STREAM_QUEUE_HARD);
	loop_deferred_init(&session->flush, loop, on_flush, session);
	session->delta = loop_timer_create(loop, on_delta_timer, session);
	session->idle = loop_timer_create(loop, fleet_session_on_idle, session);
	session->settle = loop_timer_create(loop, on_flush, session);
}
