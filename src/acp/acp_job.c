/* A reading keeps the order of a session's events: those that come before it is done are copied and handled after it.
 * The engine is held, so these are the rest of a burst. */
#include "acp/acp_job.h"

#include <stdlib.h>

#include "acp/acp_session.h"
#include "base/mem.h"
#include "engine/codex/codex.h"
#include "loop/lane.h"

/* ---- jobs ---- */

static void on_job_work(void *self)
{
	struct acp_job *job = self;
	job->work(job);
}

static void on_job_done(void *self)
{
	struct acp_job *job = self;
	list_remove(&job->link);
	job->done(job);
}

void acp_job_start(struct acp_job *job, struct acp_server *server, struct acp_request *request, acp_job_fn work,
                   acp_job_fn done)
{
	*job = (struct acp_job){.server = server, .request = request, .work = work, .done = done};
	list_append(&server->jobs, &job->link);
	worker_run(server->loop, on_job_work, on_job_done, job);
}

void acp_job_start_lane(struct acp_job *job, struct acp_server *server, struct acp_request *request, acp_job_fn work,
                        acp_job_fn done, acp_job_fn drop)
{
	*job = (struct acp_job){.server = server, .request = request, .work = work, .done = done, .drop = drop};
	list_append(&server->jobs, &job->link);
	job->lane = lane_run(server->loop, on_job_work, on_job_done, job);
}

static void on_job_drop(void *self)
{
	struct acp_job *job = self;
	job->drop(job);
}

void acp_jobs_detach(struct acp_server *server)
{
	struct acp_job *it;
	list_for_each(it, &server->jobs, link) {
		it->server = NULL;
		it->request = NULL;
		list_remove(&it->link);
		if (it->drop)
			lane_leave(it->lane, on_job_drop);
	}
}

/* ---- late events ---- */

bool acp_reading_keep(struct acp_session *session, const struct event *event)
{
	if (!session->reading)
		return false;
	struct event *copy = event_create(event->id, event->msg.tag, event->msg.body);
	list_append(&session->late, &copy->link);
	return true;
}

static void handle_late(struct acp_session *session)
{
	while (!session->reading && !list_empty(&session->late)) {
		struct event *event = list_first(&session->late, struct event, link);
		list_remove(&event->link);
		session->on_event(session, event);
		event_destroy(event);
	}
}

/* ---- readings ---- */

static void reading_destroy(struct acp_reading *reading)
{
	event_destroy(reading->cause);
	arena_finish(&reading->arena);
	free(reading->self);
	free(reading);
}

static void on_work(struct acp_job *job)
{
	struct acp_reading *reading = container_of(job, struct acp_reading, job);
	reading->work(reading);
}

/* A session that was closed meanwhile may have been opened again. */
static void on_done(struct acp_job *job)
{
	struct acp_reading *reading = container_of(job, struct acp_reading, job);
	struct acp_session *session = job->server ? acp_session_find(job->server, reading->session_id) : NULL;
	if (session && session->reading == reading) {
		session->reading = NULL;
		reading->done(session, reading);
		codex_release(session->codex);
		handle_late(session);
	}
	reading_destroy(reading);
}

void acp_reading_start(struct acp_session *session, const struct event *event, void *self, acp_reading_work_fn work,
                       acp_reading_done_fn done)
{
	struct acp_reading *reading = xnew(struct acp_reading);
	reading->cause = event_create(event->id, event->msg.tag, event->msg.body);
	reading->event = reading->cause;
	reading->cwd = arena_str(&reading->arena, str_of(session->cwd));
	reading->session_id = arena_str(&reading->arena, str_of(session->id));
	reading->self = self;
	reading->work = work;
	reading->done = done;
	session->reading = reading;
	codex_hold(session->codex);
	acp_job_start(&reading->job, session->server, NULL, on_work, on_done);
}
