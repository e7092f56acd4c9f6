/* The other process sends session_configured without history, because terminals read the rollout themselves. Here the
 * recorded events are added as in a resumed session, so that clients need not know the difference. The file is read on
 * the loop, once. */
#include "server/attached_session.h"

#include <stdlib.h>

#include "attach/attach_link.h"
#include "base/json.h"
#include "base/mem.h"
#include "rollout/rollout_reader.h"
#include "server/server_limits.h"

struct attached_session {
	struct attach_link *link;
	const struct attached_events *events;
	void *self;
	char *program, *rollout;
	uint64_t recorded;
};

static void on_greeting(const struct attach_greeting *greeting, void *self)
{
	struct attached_session *session = self;
	session->program = str_dup(greeting->program);
	session->rollout = greeting->rollout.len ? str_dup(greeting->rollout) : NULL;
	session->recorded = greeting->recorded;
}

/* Appends the events that were recorded before the greeting, as JSON. */
static void read_past(const struct attached_session *session, struct buf *out)
{
	const struct rollout_part part = {.most = session->recorded};
	struct rollout_reader *reader = NULL;
	if (session->rollout && session->recorded)
		reader = rollout_reader_create_part(session->rollout, ROLLOUT_EVENTS, part, NULL);
	if (!reader)
		return;
	struct json_writer w = json_writer(out);
	rollout_reader_write_events(reader, &w);
	rollout_reader_destroy(reader);
}

static void pass_configured(struct attached_session *session, const struct event *event)
{
	auto_buf struct buf past;
	struct ev_session_configured body = *event->msg.session_configured;
	buf_init(&past, LIMIT_KEPT_BYTES);
	read_past(session, &past);
	free(steal(session->rollout));
	if (past.len && !past.over)
		body.initial_messages = buf_str(&past);
	struct event *full = event_create(event->id, EV_session_configured, &body);
	session->events->on_event(full, 0, session->self);
	event_destroy(full);
}

static void on_event(const struct event *event, uint64_t seq, struct str from, void *self)
{
	struct attached_session *session = self;
	(void)from;
	if (event->msg.tag == EV_session_configured && session->rollout)
		pass_configured(session, event);
	else
		session->events->on_event(event, seq, session->self);
}

static void on_answered(const struct attach_answered *answered, void *self)
{
	struct attached_session *session = self;
	session->events->on_answered(answered, session->self);
}

static void on_end(const struct error *err, void *self)
{
	struct attached_session *session = self;
	struct event *event = event_create(STR(""), EV_shutdown_complete, NULL);
	(void)err;
	session->events->on_event(event, 0, session->self);
	event_destroy(event);
}

struct attached_session *attached_session_open(struct loop *loop, const char *address,
                                               const struct attached_events *events, void *self, struct error *err)
{
	static const struct attach_link_events link_events = {on_greeting, on_event, on_answered, on_end};
	struct attached_session *session = xnew(struct attached_session);
	session->events = events;
	session->self = self;
	session->link = attach_link_open(loop, address, true, &link_events, session, err);
	if (session->link)
		return session;
	free(session);
	return NULL;
}

void attached_session_submit(struct attached_session *session, struct str id, const struct op *op, uint64_t seq)
{
	attach_link_submit(session->link, id, op, seq);
}

const char *attached_session_program(const struct attached_session *session)
{
	return session->program ? session->program : "";
}

void attached_session_destroy(struct attached_session *session)
{
	if (!session)
		return;
	attach_link_destroy(session->link);
	free(session->program);
	free(session->rollout);
	free(session);
}
