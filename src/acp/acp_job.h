/* acp_job.h — work on a worker: for a request, and for an event of the engine.
 *
 * A job is embedded in a struct of its kind, which its done function frees. If the server ends first, `server` and
 * `request` are NULL in done. Loop thread only; `work` runs on a worker and accesses its own struct alone. */
#ifndef ACP_ACP_JOB_H
#define ACP_ACP_JOB_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/list.h"
#include "protocol/message/acp.h"
#include "protocol/message/message.h"

struct acp_job;
struct acp_reading;
struct acp_request;
struct acp_server;
struct acp_session;

typedef void (*acp_job_fn)(struct acp_job *job);

struct acp_job {
	/* read-only */
	struct acp_server *server;
	struct acp_request *request;
	/* private */
	struct list link;
	acp_job_fn work, done, drop;
	struct lane_job *lane;
};

/* request: NULL if the job belongs to none. */
void acp_job_start(struct acp_job *job, struct acp_server *server, struct acp_request *request, acp_job_fn work,
                   acp_job_fn done);
/* As acp_job_start, for work with the stored credentials, in the order of the calls (loop/lane.h). drop: frees a job
 * that the end of the server does not wait for, on any thread; NULL: it waits. */
void acp_job_start_lane(struct acp_job *job, struct acp_server *server, struct acp_request *request, acp_job_fn work,
                        acp_job_fn done, acp_job_fn drop);
/* Detaches all running jobs from the server. */
void acp_jobs_detach(struct acp_server *server);

/* ---- readings: the text of files that an event needs. Until it is there, the engine is held and further events of the
 * session wait. A reading owns a copy of the event, and the results. ---- */

typedef void (*acp_reading_work_fn)(struct acp_reading *reading);
/* The reading is freed afterwards. Not called if the session ends first. */
typedef void (*acp_reading_done_fn)(struct acp_session *session, struct acp_reading *reading);

struct acp_reading {
	/* for work and done */
	struct arena arena;
	const struct event *event;
	struct str cwd;
	struct acp_tool_call call;
	struct str text;
	void *self; /* freed with the reading, unless NULL */
	/* private */
	struct acp_job job;
	struct event *cause;
	struct str session_id;
	acp_reading_work_fn work;
	acp_reading_done_fn done;
};

/* The session must have no reading. Takes self. */
void acp_reading_start(struct acp_session *session, const struct event *event, void *self, acp_reading_work_fn work,
                       acp_reading_done_fn done);
/* Keeps a copy of the event if a reading is in progress: session->on_event gets it afterwards. Otherwise returns
 * false. */
must_check bool acp_reading_keep(struct acp_session *session, const struct event *event);

#endif
