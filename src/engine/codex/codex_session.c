/* The Session is data. The Codex owns it and all that works on it (Task, commands, samples), so their order of start
 * and end is decided here. */
#include "engine/codex/codex_session.h"

#include "base/error.h"
#include "engine/codex/agents.h"
#include "engine/codex/codex_data.h"
#include "engine/codex/notify.h"
#include "engine/codex/session_host.h"
#include "engine/session/session_open.h"
#include "engine/session/resume_load.h"
#include "tool/exec/exec_command.h"

/* ---- reports of the Tasks ---- */

static void on_task_start(void *self, const struct task *task)
{
	const struct codex *codex = self;
	session_lend_host(codex->session, task);
}

static void on_task_success(void *self, const struct task *task)
{
	const struct codex *codex = self;
	if (notify_is_wanted(codex->session))
		notify_task_complete(codex->session, task);
}

static void on_task_end(void *self)
{
	agents_on_task_end(self);
}

static const struct task_events task_events = {
	.on_start = on_task_start,
	.on_success = on_task_success,
	.on_end = on_task_end,
};

/* ---- the Session ---- */

int codex_open_session(struct codex *codex, struct str sub_id, const struct op_configure_session *op, struct error *err)
{
	struct resume_load *load = op->resume_path.ptr ? resume_wait_take(&codex->resume_wait, op->resume_path) : NULL;
	struct session *session = session_create(&codex->env, op, load, err);
	if (!session)
		return -(int)err->code;
	session_host_init(session);
	if (session->resumed)
		agents_restore(session, session->resumed->reader);
	session_announce(session, sub_id);
	codex->session = session;
	codex->tasks = (struct task_owner){
		.session = session,
		.events = &task_events,
		.inbox = &agents_inbox,
		.self = codex,
	};
	return 0;
}

int codex_reconfigure_session(struct codex *codex, struct str sub_id, const struct op_configure_session *op,
                              struct error *err)
{
	struct session *session = codex->session;
	struct settings *settings = session_check_configure(session, op, err);
	if (!settings)
		return -(int)err->code;
	if (session->task)
		task_abort(session->task, turn_abort_reason_interrupted);
	session_end_commands(session);
	return session_reconfigure(session, sub_id, op, settings, err);
}

void codex_hold_session(struct codex *codex)
{
	struct session *session = codex->session;
	exec_commands_hold(&session->host);
	if (session->task)
		task_hold(session->task);
}

void codex_release_session(struct codex *codex)
{
	struct session *session = codex->session;
	exec_commands_release(&session->host);
	if (session->task)
		task_release(session->task);
}

void codex_close_session(struct codex *codex)
{
	struct session *session = codex->session;
	if (!session)
		return;
	task_destroy(session->task);
	session_host_finish(session);
	samples_cancel(&codex->samples);
	session_destroy(session);
}
