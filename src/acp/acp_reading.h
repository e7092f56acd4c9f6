/* acp_reading.h — the text of files that an event of the engine needs, read on a worker. Until it is there, the engine
 * is held and further events of the session wait.
 *
 * Owns: a copy of the event, and the results. Loop thread only; `work` runs on a worker and accesses the struct
 * alone. */
#ifndef ACP_ACP_READING_H
#define ACP_ACP_READING_H

#include "acp/acp_store.h"
#include "base/arena.h"
#include "protocol/message/acp.h"
#include "protocol/message/message.h"

struct acp_reading;
struct acp_session;

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
