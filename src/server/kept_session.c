/* Events are kept as the lines that the wire profile writes, so a replay is the same bytes. Watchers pull: a session
 * only announces news, once in a round of the loop, and a watcher whose client is slow does not ask. */
#include "server/kept_session.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "server/attached_session.h"
#include "server/kept_memory.h"
#include "server/server_limits.h"
#include "server/session_facts.h"

/* ---- the objects ---- */

struct kept_session {
	struct kept_session_options options;
	char id[UUID_TEXT_SIZE];
	struct wire_style style;
	struct codex *codex;               /* or: */
	struct attached_session *attached; /* it runs in another process */
	struct kept_events events;
	struct list pending; /* submissions that the engine's queue has no room for */
	size_t pending_count;
	struct kept_ids ids;
	struct list watchers;
	unsigned watcher_count;
	struct loop_deferred news;
	struct loop_timer *idle;
	uint64_t active_ms; /* the time of the last submission or event, or when the last watcher left */
	struct session_facts facts;
	uint64_t answers; /* the number of the request there that the last submission answers; 0: none */
	struct buf out;
	bool has_change;   /* on_change is due */
	bool is_finishing; /* no submission follows */
	bool is_ending, has_ended;
};

struct kept_watcher {
	struct list link;
	struct kept_session *session;
	uint64_t seq; /* the last event that was returned */
	void (*on_news)(void *self);
	void *self;
	struct loop_timer *patience; /* ends a hold */
	bool is_holding;
	bool was_held; /* a hold since the watcher has last caught up */
};

/* ---- the end ---- */

static uint64_t idle_limit(const struct kept_session *session)
{
	return session->options.idle_ms ? session->options.idle_ms : LIMIT_KEPT_IDLE_MS;
}

static bool is_idle(const struct kept_session *session)
{
	return !session->pending_count && strcmp(kept_session_state(session), "idle") == 0;
}

static void on_idle(void *self)
{
	struct kept_session *session = self;
	uint64_t quiet_ms = clock_now_ms() - session->active_ms;
	if (session->is_ending || session->watcher_count)
		return; /* the timer is started again when the last watcher leaves */
	if (!is_idle(session))
		loop_timer_start(session->idle, idle_limit(session));
	else if (quiet_ms < idle_limit(session))
		loop_timer_start(session->idle, idle_limit(session) - quiet_ms);
	else
		kept_session_shut_down(session);
}

static void look(struct kept_session *session)
{
	enum codex_state state = codex_get_state(session->codex);
	if (session->pending_count || state == CODEX_QUEUED)
		loop_defer(&session->news); /* the queues are drained in the next round of the loop */
	else if (state != CODEX_RUNNING)
		kept_session_shut_down(session);
}

static void on_announce(void *self)
{
	struct kept_session *session = self;
	struct kept_watcher *it;
	list_for_each(it, &session->watchers, link)
		it->on_news(it->self);
	if (session->has_change && session->options.on_change)
		session->options.on_change(session->options.self);
	session->has_change = false;
	if (session->is_finishing)
		look(session);
	if (session->has_ended)
		session->options.on_end(session->options.self);
}

/* ---- events ---- */

static void on_event(const struct event *event, void *self)
{
	struct kept_session *session = self;
	struct str line, rest;
	if (session->options.has_facts)
		session->has_change |= session_facts_on_event(&session->facts, event, session->events.last_seq + 1);
	wire_profile_write(&session->style, event, &session->out);
	rest = buf_str(&session->out);
	while (str_next_line(&rest, &line))
		if (line.len)
			kept_events_add(&session->events, line);
	buf_reuse(&session->out);
	session->active_ms = clock_now_ms();
	if (event->msg.tag == EV_shutdown_complete)
		session->has_ended = session->is_ending = true;
	loop_defer(&session->news);
}

static void emit(struct kept_session *session, struct str id, enum event_tag tag, const void *body)
{
	struct event *event = event_create(id, tag, body);
	on_event(event, session);
	event_destroy(event);
}

/* ---- submissions ---- */

static void submit_pending(void *self)
{
	struct kept_session *session = self;
	struct submission *it;
	while ((it = list_first(&session->pending, struct submission, link))) {
		if (session->attached)
			attached_session_submit(session->attached, it->id, &it->op, session->answers);
		else if (codex_submit_op(session->codex, it->id, &it->op, NULL) != 0)
			return; /* on_room follows */
		list_remove(&it->link);
		session->pending_count--;
		submission_destroy(it);
		loop_defer(&session->news); /* there is room again */
	}
}

static void add_pending(struct kept_session *session, struct submission *submission)
{
	list_append(&session->pending, &submission->link);
	session->pending_count++;
	session->active_ms = clock_now_ms();
	submit_pending(session);
}

size_t kept_session_room(const struct kept_session *session)
{
	return session->is_ending ? 0 : LIMIT_KEPT_PENDING - session->pending_count;
}

bool kept_session_submit(struct kept_session *session, struct submission *submission)
{
	if (!session->options.is_own && !kept_ids_record(&session->ids, submission->id)) {
		submission_destroy(submission);
		return false;
	}
	wire_profile_observe(&session->style, submission);
	session->answers = 0;
	if (session->options.has_facts && session_facts_on_op(&session->facts, &submission->op, &session->answers)) {
		session->has_change = true;
		loop_defer(&session->news);
	}
	if (submission->op.tag == OP_shutdown && session->attached) {
		submission_destroy(submission);
		kept_session_shut_down(session);
		return true;
	}
	if (submission->op.tag == OP_shutdown)
		session->is_ending = true;
	add_pending(session, submission);
	return true;
}

bool kept_session_has_open(const struct kept_session *session, uint64_t seq, const struct submission *submission)
{
	return kept_ids_has(&session->ids, submission->id) || /* sent again: it counts once */
	       session_facts_has_open(&session->facts, seq, &submission->op);
}

static void drop_pending(struct kept_session *session)
{
	struct submission *it;
	list_for_each(it, &session->pending, link) {
		list_remove(&it->link);
		submission_destroy(it);
	}
	session->pending_count = 0;
}

void kept_session_shut_down(struct kept_session *session)
{
	if (session->is_ending)
		return;
	session->is_ending = true;
	drop_pending(session);
	if (session->codex)
		add_pending(session, submission_create(STR(""), &(struct op){.tag = OP_shutdown}));
	else
		emit(session, STR(""), EV_shutdown_complete, NULL);
}

void kept_session_report(struct kept_session *session, struct str id, const char *text)
{
	struct ev_error body = {.message = str_of(text), .codex_error_info = STR("\"bad_request\"")};
	emit(session, id, EV_error, &body);
}

void kept_session_finish(struct kept_session *session)
{
	session->is_finishing = true;
	loop_defer(&session->news);
}

/* ---- the session ---- */

static void open_codex(struct kept_session *session)
{
	const struct kept_session_options *own = &session->options;
	session->codex = proto_codex_open(&own->engine, on_event, submit_pending, session);
	if (!own->no_auto_configure)
		add_pending(session, proto_configure(&own->engine, own->resume_path));
	session->options.resume_path = NULL; /* borrowed until here */
}

struct kept_session *kept_session_create(const struct kept_session_options *options)
{
	struct kept_session *session = xnew(struct kept_session);
	session->options = *options;
	uuid_v7(session->id);
	session->style = proto_style(options->engine.config);
	kept_events_init(&session->events, options->keep_events);
	session_facts_init(&session->facts);
	list_init(&session->pending);
	list_init(&session->watchers);
	buf_init(&session->out, LIMIT_STREAM_QUEUE_HARD);
	loop_deferred_init(&session->news, options->loop, on_announce, session);
	session->idle = loop_timer_create(options->loop, on_idle, session);
	session->active_ms = clock_now_ms();
	loop_timer_start(session->idle, idle_limit(session));
	if (!options->is_elsewhere)
		open_codex(session);
	return session;
}

static void on_attached_event(const struct event *event, uint64_t seq, void *self)
{
	struct kept_session *session = self;
	session->facts.peer = seq;
	if (!session->has_ended)
		on_event(event, session);
}

static void on_answered(const struct attach_answered *answered, void *self)
{
	struct kept_session *session = self;
	session->has_change |= session_facts_on_answer(&session->facts, answered);
	loop_defer(&session->news);
}

int kept_session_attach(struct kept_session *session, const char *address, struct error *err)
{
	static const struct attached_events events = {on_attached_event, on_answered};
	session->attached = attached_session_open(session->options.loop, address, &events, session, err);
	return session->attached ? 0 : -(int)err->code;
}

void kept_session_destroy(struct kept_session *session)
{
	if (!session)
		return;
	codex_close(session->codex);
	attached_session_destroy(session->attached);
	drop_pending(session);
	loop_deferred_finish(&session->news);
	loop_timer_destroy(session->idle);
	kept_events_finish(&session->events);
	kept_ids_finish(&session->ids);
	session_facts_finish(&session->facts);
	buf_finish(&session->out);
	free(session);
}

const char *kept_session_id(const struct kept_session *session)
{
	return session->id;
}

uint64_t kept_session_first_seq(const struct kept_session *session)
{
	return session->events.first_seq;
}

uint64_t kept_session_last_seq(const struct kept_session *session)
{
	return session->events.last_seq;
}

bool kept_session_is_ending(const struct kept_session *session)
{
	return session->is_ending;
}

bool kept_session_has_ended(const struct kept_session *session)
{
	return session->has_ended;
}

unsigned kept_session_watchers(const struct kept_session *session)
{
	return session->watcher_count;
}

bool kept_session_is_watched(const struct kept_session *session)
{
	return session->watcher_count;
}

const char *kept_session_thread(const struct kept_session *session)
{
	return session->facts.thread_id;
}

const char *kept_session_state(const struct kept_session *session)
{
	static const char *const names[] = {
		[CODEX_QUEUED] = "running",
		[CODEX_IDLE] = "idle",
		[CODEX_RUNNING] = "running",
		[CODEX_BLOCKED] = "blocked",
	};
	return session->codex ? names[codex_get_state(session->codex)] : session_facts_state(&session->facts);
}

void kept_session_write_info(const struct kept_session *session, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "session_id", session->id);
	jw_member_cstr(w, "state", kept_session_state(session));
	jw_member_i64(w, "first_seq", (int64_t)session->events.first_seq);
	jw_member_i64(w, "last_seq", (int64_t)session->events.last_seq);
	jw_member_i64(w, "watchers", session->watcher_count);
	if (session->options.has_facts)
		session_facts_write(&session->facts, w);
	if (session->attached)
		jw_member_cstr(w, "process", attached_session_program(session->attached));
	jw_object_end(w);
}

/* ---- watchers ---- */

void kept_watcher_go_on(struct kept_watcher *watcher)
{
	loop_timer_stop(watcher->patience);
	if (watcher->is_holding)
		codex_release(watcher->session->codex);
	watcher->is_holding = false;
}

static void on_patience_end(void *self)
{
	kept_watcher_go_on(self);
}

struct kept_watcher *kept_watcher_create(struct kept_session *session, uint64_t after_seq, void (*on_news)(void *self),
                                         void *self)
{
	struct kept_watcher *watcher = xnew(struct kept_watcher);
	*watcher = (struct kept_watcher){.session = session, .seq = after_seq, .on_news = on_news, .self = self};
	watcher->patience = loop_timer_create(session->options.loop, on_patience_end, watcher);
	list_append(&session->watchers, &watcher->link);
	session->watcher_count++;
	loop_defer(&session->news);
	return watcher;
}

enum kept_next kept_watcher_next(struct kept_watcher *watcher, struct str *ret_line, uint64_t *ret_seq)
{
	struct kept_session *session = watcher->session;
	if (session->options.is_own && watcher->seq && watcher->seq == session->events.first_seq)
		kept_events_drop(&session->events); /* the caller has read it */
	if (watcher->seq >= session->events.last_seq) {
		watcher->was_held = false;
		return session->has_ended ? KEPT_ENDED : KEPT_WAIT;
	}
	if (watcher->seq + 1 < session->events.first_seq)
		return KEPT_LOST;
	*ret_seq = ++watcher->seq;
	*ret_line = kept_events_get(&session->events, watcher->seq);
	return KEPT_EVENT;
}

void kept_watcher_stall(struct kept_watcher *watcher)
{
	bool is_own = watcher->session->options.is_own;
	if (watcher->is_holding || (watcher->was_held && !is_own) || watcher->session->has_ended ||
	    !watcher->session->codex)
		return;
	watcher->was_held = watcher->is_holding = true;
	codex_hold(watcher->session->codex);
	if (!is_own)
		loop_timer_start(watcher->patience, LIMIT_WATCHER_HOLD_MS);
}

void kept_watcher_destroy(struct kept_watcher *watcher)
{
	if (!watcher)
		return;
	struct kept_session *session = watcher->session;
	kept_watcher_go_on(watcher);
	loop_timer_destroy(watcher->patience);
	list_remove(&watcher->link);
	session->watcher_count--;
	session->active_ms = clock_now_ms();
	if (!session->watcher_count)
		loop_timer_start(session->idle, idle_limit(session));
	loop_defer(&session->news); /* an ended session may be waiting for its last watcher */
	free(watcher);
}
