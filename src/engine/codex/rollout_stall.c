/* Nothing tells when a disk has room again, so a timer looks, and only while the gate is shut. Its words leave beside
 * the queue, for they stand for no line, and what is in the queue must not leave. */
#include "engine/codex/rollout_stall.h"

#include <stdio.h>

#include "base/error.h"
#include "engine/codex/codex_priv.h"
#include "engine/codex/services.h"
#include "engine/session/session.h"
#include "engine/session/session_record.h"
#include "engine/task/task.h"
#include "rollout/rollout_writer.h"

enum { RETRY_MS = 500 };

static void tell(struct codex *codex, enum event_tag tag, const void *body)
{
	struct task *task = codex->session->task;
	codex_deliver(codex, event_create(task ? task->id : STR(""), tag, body));
}

/* Told once per failure: a full disk must not bury the user in warnings. */
static void tell_failure(struct codex *codex, const struct error *err)
{
	char text[ERROR_TEXT_MAX + 128];
	if (codex->gate.is_failing)
		return;
	codex->gate.is_failing = true;
	snprintf(text, sizeof(text),
	         "This session cannot be recorded: %s. Work goes on; what is missing is written once that works again.",
	         err->text);
	tell(codex, EV_warning, &(struct ev_warning){.message = str_of(text)});
}

/* Deleted files come back, so somebody who wanted to be rid of the session has to know how. */
static void tell_rescue(struct codex *codex)
{
	char text[ERROR_TEXT_MAX];
	struct rollout_writer *rollout = codex->session ? codex->session->rollout : NULL;
	enum rollout_rescue_kind rescued = rollout ? rollout_writer_take_rescue(rollout) : ROLLOUT_UNTOUCHED;
	if (rescued == ROLLOUT_UNTOUCHED)
		return;
	snprintf(text, sizeof(text),
	         rescued == ROLLOUT_DELETED
	                 ? "The file of this session was deleted while the session was open. It has been written "
	                   "again: %s. To delete it, end the session first."
	                 : "The file of this session was replaced by another one while the session was open. That "
	                   "one is unchanged; the session has been written again and goes on in %s.",
	         rollout_writer_path(rollout));
	tell(codex, EV_warning, &(struct ev_warning){.message = str_of(text)});
}

static void on_retry(void *self)
{
	struct codex *codex = self;
	loop_defer(&codex->eq.wake); /* which asks whether it may pass */
	loop_timer_start(codex->gate.retry, RETRY_MS);
}

static void shut_gate(struct codex *codex, const struct error *err)
{
	struct rollout_stall *gate = &codex->gate;
	char text[ERROR_TEXT_MAX + 256];
	if (gate->is_shut)
		return;
	gate->is_shut = true;
	codex_hold(codex);
	if (!gate->retry)
		gate->retry = loop_timer_create(codex->env.loop, on_retry, codex);
	loop_timer_start(gate->retry, RETRY_MS);
	snprintf(text, sizeof(text),
	         "The disk is full: %s. The session stands still until there is room, and then goes on by itself; "
	         "interrupt it to go on without a record.",
	         err->text);
	tell(codex, EV_stream_error, &(struct ev_stream_error){.message = str_of(text)});
}

static void open_gate(struct codex *codex)
{
	struct rollout_stall *gate = &codex->gate;
	if (!gate->is_shut)
		return;
	gate->is_shut = false;
	loop_timer_stop(gate->retry);
	codex_release(codex);
}

bool rollout_stall_pass(struct codex *codex)
{
	struct rollout_stall *gate = &codex->gate;
	struct error err;
	if (!codex->session || session_flush_rollout(codex->session, &err) == 0) {
		if (gate->is_shut)
			tell(codex, EV_background_event,
			     &(struct ev_background_event){.message = STR("There is room on the disk again.")});
		open_gate(codex);
		gate->is_failing = gate->is_forced = false;
		tell_rescue(codex);
		return true;
	}
	if (err.code == ERR_no_space && !gate->is_forced) {
		shut_gate(codex, &err);
		return false;
	}
	open_gate(codex);
	tell_failure(codex, &err);
	return true;
}

void rollout_stall_force(struct codex *codex)
{
	codex->gate.is_forced = true;
	if (codex->gate.is_shut)
		loop_defer(&codex->eq.wake);
}

void rollout_stall_finish(struct rollout_stall *gate)
{
	loop_timer_destroy(gate->retry);
}
