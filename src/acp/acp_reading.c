#include "acp/acp_reading.h"

#include <stdlib.h>

#include "acp/acp_event.h"
#include "acp/acp_session.h"
#include "base/mem.h"
#include "engine/codex/codex.h"

static void reading_destroy(struct acp_reading *reading)
{
	event_destroy((struct event *)(uintptr_t)reading->event);
	arena_finish(&reading->arena);
	free(reading->self);
	free(reading);
}

static void on_work(struct acp_job *job)
{
	struct acp_reading *reading = container_of(job, struct acp_reading, job);
	reading->work(reading);
}

static void on_done(struct acp_job *job)
{
	struct acp_reading *reading = container_of(job, struct acp_reading, job);
	struct acp_session *session = reading->session;
	if (session) {
		session->reading = NULL;
		reading->done(session, reading);
		codex_release(session->codex);
		acp_event_resume(session);
	}
	reading_destroy(reading);
}

void acp_reading_start(struct acp_session *session, const struct event *event, void *self, acp_reading_work_fn work,
                       acp_reading_done_fn done)
{
	struct acp_reading *reading = xnew(struct acp_reading);
	reading->event = event_create(event->id, event->msg.tag, event->msg.body);
	reading->cwd = arena_str(&reading->arena, str_of(session->cwd));
	reading->self = self;
	reading->session = session;
	reading->work = work;
	reading->done = done;
	session->reading = reading;
	codex_hold(session->codex);
	acp_job_start(&reading->job, session->server, NULL, on_work, on_done);
}

void acp_reading_abandon(struct acp_reading *reading)
{
	if (reading)
		reading->session = NULL;
}
