/* A Codex is two queues with a Session between them. Draining them decides the order: submissions first in, first out;
 * events only after their rollout lines are written. */
#include "engine/codex/codex.h"

#include "agent/agent.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/agents.h"
#include "engine/codex/codex_data.h"
#include "engine/codex/codex_session.h"
#include "engine/codex/codex_telemetry.h"
#include "engine/codex/op.h"
#include "engine/session/guardian.h"
#include "engine/session/guardian_inquiry.h"
#include "engine/session/conversation.h"
#include "engine/session/environment_docs.h"
#include "engine/session/session.h"
#include "engine/session/session_hooks.h"
#include "engine/session/session_model.h"
#include "engine/session/session_tools.h"
#include "rollout/rollout_writer.h"
#include "telemetry/telemetry.h"
#include "tool/exec/exec_session.h"

/* ---- the queues ---- */

/* True while submissions wait for credentials, for a session that is being resumed, for required MCP servers, or for
 * the AGENTS.md files of an environment. */
static bool is_resuming(const struct codex *codex)
{
	const struct session *session = codex->session;
	return resume_wait_is_pending(&codex->resume_wait) || mcp_wait_is_pending(&codex->mcp_wait) ||
	       codex->settling ||
	       (session && !session->task && environment_docs_are_pending(session) && !sq_has_interrupt(&codex->sq));
}

static void on_room(void *self)
{
	struct codex *codex = self;
	if (codex->on_room)
		codex->on_room(codex->self);
}

/* A Turn that is about to be interrupted does not wait for AGENTS.md files, which the next one gets. */
static bool awaits_docs(struct codex *codex)
{
	return !sq_has_interrupt(&codex->sq) && environment_docs_begin(codex->session);
}

/* The events of a submission that does not wait for the first ones do not wait, either. */
static void release_events(struct codex *codex)
{
	if (!codex->session || !environment_docs_are_first(codex->session))
		return;
	environment_docs_announce(codex->session);
	loop_defer(&codex->eq.wake);
}

static void on_submissions(void *self)
{
	struct codex *codex = self;
	struct submission *submission;
	while (!is_resuming(codex) && !awaits_docs(codex) && (submission = sq_pop(&codex->sq))) {
		release_events(codex);
		op_dispatch(codex, submission);
		submission_destroy(submission);
	}
	if (codex->env.unfinished && codex->session && !codex->reopen_failure && !is_resuming(codex))
		codex_continue(codex);
}

static void on_resume_ready(void *self, const struct submission *submission)
{
	struct codex *codex = self;
	op_dispatch(codex, submission);
	on_submissions(codex);
}

/* Takes ownership of the event. */
static void deliver(struct codex *codex, struct event *event)
{
	telemetry_event(codex->telemetry, event);
	if (codex->env.agent && codex->env.agent->parent) {
		agents_take_event(codex, event);
		return;
	}
	codex->on_event(event, codex->self);
	event_destroy(event);
}

static void on_events(void *self)
{
	struct codex *codex = self;
	struct event *event;
	if (codex->session && environment_docs_are_first(codex->session))
		return;
	if (codex->settling || !rollout_stall_pass(&codex->stall, codex->session))
		return;
	for (size_t left = codex->eq.count; left && (event = eq_pop(&codex->eq)); left--)
		deliver(codex, event);
	if (codex->eq.count)
		loop_defer(&codex->eq.wake);
	else if (codex->session)
		session_number_waits(codex->session);
}

/* ---- calls of the rollout's stall ---- */

static void emit_past_queue(void *self, enum event_tag tag, const void *body)
{
	struct codex *codex = self;
	struct str id = codex->session ? session_task_submission(codex->session) : STR("");
	deliver(codex, event_create(id, tag, body));
}

static void hold(struct codex *codex, bool is_held)
{
	(is_held ? codex_hold : codex_release)(codex);
}

static void on_stall(void *self, bool is_stalled)
{
	hold(self, is_stalled);
}

static void retry_events(void *self)
{
	struct codex *codex = self;
	loop_defer(&codex->eq.wake);
}

static const struct rollout_stall_ops stall_ops = {
	.emit = emit_past_queue,
	.hold = on_stall,
	.retry = retry_events,
};

/* ---- calls of the Session ---- */

static void push_event(void *self, struct str sub_id, enum event_tag tag, const void *body, struct shared_text *held)
{
	struct codex *codex = self;
	eq_push(&codex->eq, sub_id, tag, body, held);
}

static void on_model_close(void *self)
{
	struct codex *codex = self;
	samples_cancel(&codex->samples);
	if (codex->session)
		guardian_fail_all(codex->session, "the model of the session changed");
}

static struct agent *agent_of_tools(void *self, bool by_thread)
{
	const struct codex *codex = self;
	struct session *session = codex->session;
	bool has_tools = by_thread ? session_offers_agents(session) : codex->env.config->features.subagent_tools;
	return has_tools ? agents_self(session) : NULL;
}

static void on_patched(void *self, const struct patch_plan *plan)
{
	const struct codex *codex = self;
	if (codex->session->task)
		task_note_patch(codex->session->task, plan);
}

static void on_docs(void *self)
{
	struct codex *codex = self;
	loop_defer(&codex->eq.wake);
	on_submissions(codex);
	codex_continue_goal(codex);
	agents_on_task_end(codex);
}

static void on_abort(void *self)
{
	codex_interrupt(self);
}

static const struct session_ops session_ops = {
	.settle = retry_events,
	.carry_on = on_docs,
	.push = push_event,
	.parent = agents_parent,
	.on_model_close = on_model_close,
	.agent = agent_of_tools,
	.on_patched = on_patched,
	.on_abort = on_abort,
};

/* ---- answers ---- */

/* Answers a pending request. Call ids come from the provider, and some providers number the calls of each response,
 * so an approval must be matched to one agent: it must not start another agent's command. */
static enum answer_outcome answer(struct codex *codex, enum event_tag asks, struct str id, const void *body)
{
	struct session *session = codex->session;
	enum pending_kind kind = pending_kind_of(asks);
	size_t below;
	agents_find_pending(codex, kind, id, &below);
	if ((pending_find(&session->requests, kind, id) != NULL) + below > 1) {
		session_warn(session, STR(""),
		             "Requests of several agents are pending under `%.*s`; the answer was ignored. Answer with "
		             "the id of the event that asked.",
		             STR_ARG(id));
		return ANSWER_ambiguous;
	}
	bool is_taken = session_answer(session, kind, id, body) || agents_answer(codex, kind, id, body);
	return is_taken ? ANSWER_taken : ANSWER_unknown;
}

/* ---- opening ---- */

static struct session_env env_of(struct codex *codex, const struct codex_options *options)
{
	return (struct session_env){
		.ops = &session_ops,
		.self = codex,
		.loop = options->services->loop,
		.http = options->services->http,
		.mcp = options->services->mcp,
		.accounts = options->services->accounts,
		.environments = options->services->environments,
		.config = config_ref(options->config),
		.skill_roots = &options->services->skill_roots,
		.source = options->source,
		.cwd = xstrdup(options->cwd),
		.originator = str_of(options->services->originator),
		.client = options->client ? xstrdup(options->client) : NULL,
		.client_version = options->client_version ? xstrdup(options->client_version) : NULL,
		.sink = options->sink,
		.unfinished = options->unfinished,
		.ephemeral = options->ephemeral,
		.mutes_output = options->mutes_output,
		.begins_once_allowed = options->begins_once_allowed,
		.reports_refusals = options->reports_refusals,
		.is_interactive = options->is_interactive,
		.reads_record = options->reads_record,
		.is_unattended = options->is_unattended,
		.serves_tools = options->serves_tools,
		.is_unhurried = options->is_unhurried,
		.is_cleared = options->is_cleared,
		.runs_unasked = options->runs_unasked,
	};
}

static const struct codex_ops codex_ops = {
	.open = codex_open,
	.open_session = codex_open_session,
	.carry_out = on_submissions,
	.answer = answer,
	.hold = hold,
	.close = codex_close,
};

struct codex *codex_open(const struct codex_options *options)
{
	struct codex *codex = xnew(struct codex);
	codex->ops = &codex_ops;
	codex->services = options->services;
	codex->env = env_of(codex, options);
	if (codex->env.client)
		codex->env.originator = str_of(codex->env.client);
	codex->steers = options->steers;
	codex->on_event = options->on_event;
	codex->on_child = options->on_child;
	codex->asks_for_children = options->asks_for_children || !options->on_child;
	codex->on_room = options->on_room;
	codex->self = options->self;
	samples_init(&codex->samples);
	resume_wait_init(&codex->resume_wait, &codex->env, on_resume_ready, codex);
	mcp_wait_init(&codex->mcp_wait, &codex->env, on_resume_ready, codex);
	codex_init_goal(codex);
	codex_open_telemetry(codex);
	rollout_stall_init(&codex->stall, codex->env.loop, &stall_ops, codex);
	sq_init(&codex->sq, codex->env.loop, on_submissions, on_room, codex);
	eq_init(&codex->eq, codex->env.loop, on_events, codex);
	return codex;
}

void codex_listen(struct codex *child, codex_event_fn on_event, void *self)
{
	child->on_event = on_event;
	child->self = self;
}

/* ---- calls of the front end ---- */

void codex_write_asker(const struct codex *codex, struct str task, struct buf *out)
{
	agents_write_asker(codex, task, out);
}

int codex_submit_op(struct codex *codex, struct str id, const struct op *op, struct error *err)
{
	return sq_push(&codex->sq, id, op, err);
}

bool codex_answer(struct codex *codex, enum event_tag asks, struct str id, const void *body)
{
	on_submissions(codex);
	return codex->session && !codex->is_shut_down && answer(codex, asks, id, body) == ANSWER_taken;
}

void codex_renew_hooks(struct codex *codex, const struct config *config)
{
	if (codex->session)
		session_hooks_renew(codex->session, config);
}

int codex_record(struct codex *codex, struct error *err)
{
	struct session *session = codex->session;
	if (!session || !session->rollout)
		return 0;
	rollout_writer_keep(session->rollout);
	return session_flush_rollout(session, err);
}

void codex_let_record_go(struct codex *codex, bool is_let_go)
{
	if (codex->session && codex->session->rollout)
		rollout_writer_let_go(codex->session->rollout, is_let_go);
}

struct str codex_thread_id(const struct codex *codex)
{
	return codex->session ? str_of(codex->session->id) : STR_NONE;
}

const char *codex_record_path(const struct codex *codex)
{
	const struct session *session = codex->session;
	return session && session->rollout ? rollout_writer_path(session->rollout) : NULL;
}

struct str codex_mode_text(enum mode_kind mode)
{
	return settings_default_mode_text(mode);
}

void codex_hold(struct codex *codex)
{
	if (codex->holds++ == 0 && codex->session)
		codex_hold_session(codex);
	agents_hold(codex, true);
}

void codex_release(struct codex *codex)
{
	if (codex->holds && --codex->holds == 0 && codex->session)
		codex_release_session(codex);
	agents_hold(codex, false);
}

struct codex_sample *codex_sample_create(struct codex *codex, const struct codex_sample_options *options,
                                         struct error *err)
{
	struct session *session = codex->session;
	if (session && !session->task && !codex->sq.count)
		return samples_start(&codex->samples, session, options, err);
	error_set(err, ERR_busy, "a turn is in progress: wait for its end before you request a sample");
	return NULL;
}

struct guardian_inquiry *codex_inquire(struct codex *codex, guardian_inquiry_fn done, void *self, struct error *err)
{
	struct session *session = codex->session;
	if (session && !session->task && !codex->sq.count)
		return guardian_inquire(session, done, self, err);
	error_set(err, ERR_busy, "a turn is in progress: wait for its end before you request a review");
	return NULL;
}

void codex_inquiry_cancel(struct guardian_inquiry *inquiry)
{
	guardian_inquiry_cancel(inquiry);
}

void codex_settle(struct codex *codex, uint64_t number)
{
	if (codex->session)
		session_settle(codex->session, number);
	agents_settle(codex, number);
}

bool codex_is_working(const struct codex *codex)
{
	const struct session *session = codex->session;
	return !codex_is_drained(codex) || agents_are_active(codex) ||
	       (session && (session->task || !list_empty(&session->shells) || !list_empty(&session->host.commands)));
}

bool codex_is_drained(const struct codex *codex)
{
	return !is_resuming(codex) && !codex->sq.count && !codex->eq.count;
}

enum codex_state codex_get_state(const struct codex *codex)
{
	const struct session *session = codex->session;
	if (is_resuming(codex))
		return CODEX_RUNNING;
	if (codex->sq.count || codex->eq.count)
		return CODEX_QUEUED;
	if (!session || (!session->task && list_empty(&session->shells)))
		return CODEX_IDLE;
	return list_empty(&session->requests) ? CODEX_RUNNING : CODEX_BLOCKED;
}

bool codex_end_command(struct codex *codex, int64_t process_id)
{
	struct session *session = codex->session;
	return session && session->exec && exec_sessions_end_background(session->exec, process_id);
}

bool codex_shut_down(struct codex *codex)
{
	if (codex->is_shut_down || !codex->session || !session_hooks_has(codex->session, hook_event_session_end))
		return false;
	op_shut_down(codex);
	return true;
}

bool codex_bid_farewell(struct codex *codex, void (*done)(void *self), void *self)
{
	codex->on_farewell = done;
	codex->farewell_self = self;
	codex_end_session(codex, STR_NONE);
	return codex->ending != NULL;
}

void codex_close(struct codex *codex)
{
	if (!codex)
		return;
	agents_close(codex);
	if (codex->hear.loop)
		loop_deferred_finish(&codex->hear);
	codex_close_session(codex);
	agents_destroy(codex); /* after the session, whose calls may wait for agents */
	loop_deferred_finish(&codex->goal);
	rollout_stall_finish(&codex->stall);
	resume_wait_finish(&codex->resume_wait);
	mcp_wait_finish(&codex->mcp_wait);
	telemetry_destroy(codex->telemetry);
	sq_finish(&codex->sq);
	eq_finish(&codex->eq);
	config_unref(codex->env.config);
	free(codex->env.cwd);
	free(codex->env.client);
	free(codex->env.client_version);
	free(codex->failure);
	free(codex->reopen_failure);
	vec_finish(&codex->taken);
	free(codex);
}
