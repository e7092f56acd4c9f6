/* The Codex is two queues with a Session between them. Draining is the only place where order is
 * decided: submissions first in first out, and events only after their rollout lines are written. */
#include "engine/codex/codex.h"

#include "agent/agent.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/agents.h"
#include "engine/codex/codex_priv.h"
#include "engine/codex/codex_session.h"
#include "engine/codex/sample.h"
#include "engine/session/preamble.h"
#include "engine/codex/services.h"
#include "engine/session/session.h"
#include "engine/session/session_record.h"
#include "engine/task/task.h"
#include "engine/turn/turn.h"
#include "rollout/rollout_writer.h"
#include "tool/exec/exec_session.h"

typedef void (*op_fn)(struct codex *codex, const struct submission *submission);

static const op_fn op_handlers[OP_count] = {
#define OP(tag, wire, record, doc) [OP_##tag] = on_op_##tag,
#define OP_UNIT(tag, wire, doc) [OP_##tag] = on_op_##tag,
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"
};

/* What this version would need to carry out an Op that has no handler. */
static const struct op_lack {
	const char *op, *what;
} op_lacks[OP_count] = {
#define OP_LACKS(tag, wire, record, what, doc) [OP_##tag] = {wire, what},
#define OP_UNIT_LACKS(tag, wire, what, doc) [OP_##tag] = {wire, what},
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"
};

void codex_refuse(struct codex *codex, struct str sub_id, const char *info, const char *message)
{
	struct ev_error event = {.message = str_of(message), .codex_error_info = str_of(info)};
	eq_push(&codex->eq, sub_id, EV_error, &event);
}

static void refuse_lack(struct codex *codex, const struct submission *submission)
{
	char text[ERROR_TEXT_MAX];
	const struct op_lack *lack = &op_lacks[submission->op.tag];
	snprintf(text, sizeof(text),
	         "This version of Codex has no %s, so it cannot do `%s`. Nothing was changed; the session goes on.",
	         lack->what, lack->op);
	codex_refuse(codex, submission->id, "\"bad_request\"", text);
}

/* What comes behind a shutdown is dropped: shutdown_complete is the last event. */
void codex_dispatch(struct codex *codex, const struct submission *submission)
{
	op_fn handler = op_handlers[submission->op.tag];
	if (codex->is_shut_down)
		return;
	if (!codex->session && submission->op.tag != OP_configure_session && submission->op.tag != OP_shutdown)
		codex_refuse(codex, submission->id, "\"bad_request\"",
		             "No session initialized, expected 'ConfigureSession' as first Op");
	else if (handler)
		handler(codex, submission);
	else
		refuse_lack(codex, submission);
}

static void on_submissions(void *self)
{
	struct codex *codex = self;
	struct submission *submission;
	while (!resume_wait_is_on(codex) && (submission = sq_pop(&codex->sq))) {
		codex_dispatch(codex, submission);
		submission_destroy(submission);
	}
}

void codex_carry_out(struct codex *codex)
{
	on_submissions(codex);
}

void codex_deliver(struct codex *codex, struct event *event)
{
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
	if (!rollout_stall_pass(codex))
		return;
	for (size_t left = codex->eq.count; left && (event = eq_pop(&codex->eq)); left--)
		codex_deliver(codex, event);
	if (codex->eq.count)
		loop_defer(&codex->eq.wake);
}

/* ---- what the Session calls ---- */

static void push_event(void *self, struct str sub_id, enum event_tag tag, const void *body)
{
	struct codex *codex = self;
	eq_push(&codex->eq, sub_id, tag, body);
}

static const struct session_ops session_ops = {
	.push = push_event,
	.parent = agents_parent,
	.on_model_close = samples_end,
};

static struct session_env env_of(struct codex *codex, const struct codex_options *options)
{
	return (struct session_env){
		.ops = &session_ops,
		.self = codex,
		.loop = options->services->loop,
		.http = options->services->http,
		.config = config_ref(options->config),
		.skill_roots = &options->services->skill_roots,
		.source = options->source,
		.cwd = xstrdup(options->cwd),
		.originator = str_of(options->services->originator),
		.client = options->client ? xstrdup(options->client) : NULL,
		.client_version = options->client_version ? xstrdup(options->client_version) : NULL,
		.ephemeral = options->ephemeral,
		.mutes_output = options->mutes_output,
		.begins_once_allowed = options->begins_once_allowed,
		.is_interactive = options->is_interactive,
		.is_unattended = options->is_unattended,
		.serves_tools = options->serves_tools,
		.runs_unasked = options->runs_unasked,
	};
}

struct codex *codex_open(const struct codex_options *options)
{
	struct codex *codex = xnew(struct codex);
	struct loop *loop = options->services->loop;
	codex->services = options->services;
	codex->env = env_of(codex, options);
	if (codex->env.client)
		codex->env.originator = str_of(codex->env.client);
	codex->steers = options->steers;
	list_init(&codex->samples);
	codex->on_event = options->on_event;
	codex->on_child = options->on_child;
	codex->self = options->self;
	sq_init(&codex->sq, loop, on_submissions, codex);
	eq_init(&codex->eq, loop, on_events, codex);
	return codex;
}

void codex_listen(struct codex *child, codex_event_fn on_event, void *self)
{
	child->on_event = on_event;
	child->self = self;
}

int codex_submit_op(struct codex *codex, struct str id, const struct op *op, struct error *err)
{
	return sq_push(&codex->sq, id, op, err);
}

static int keep_items(struct session *session, const struct str *items, size_t count, struct error *err)
{
	size_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += items[i].len + 1;
	if (sum > session->unheard.max - session->unheard.len)
		return error_set(err, ERR_limit, "these items and what waits for the next turn are more than %d MB",
		                 LIMIT_USER_ITEM / MIB);
	for (size_t i = 0; i < count; i++) {
		buf_append_str(&session->unheard, items[i]);
		buf_append_char(&session->unheard, '\n');
	}
	return 0;
}

/* Between a call of the model and its output nothing may come: a Task takes them up where it can. */
int codex_add_items(struct codex *codex, const struct str *items, size_t count, struct error *err)
{
	struct session *session = codex->session;
	on_submissions(codex);
	if (session->task)
		return keep_items(session, items, count, err);
	preamble_update(&session->conversation, session->settings);
	for (size_t i = 0; i < count; i++)
		conversation_add(&session->conversation, items[i]);
	rollout_stall_pass(codex);
	return 0;
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

enum codex_state codex_get_state(const struct codex *codex)
{
	const struct session *session = codex->session;
	if (resume_wait_is_on(codex))
		return CODEX_RUNNING;
	if (codex->sq.count || codex->eq.count)
		return CODEX_QUEUED;
	if (!session || (!session->task && list_empty(&session->shells)))
		return CODEX_IDLE;
	bool waits_for_tool = session->task && session->task->turn && turn_waits_for_client(session->task->turn);
	bool is_asking = approvals_waiting(&session->approvals) || questions_waiting(&session->questions);
	return is_asking || waits_for_tool ? CODEX_BLOCKED : CODEX_RUNNING;
}

bool codex_end_command(struct codex *codex, int64_t process_id)
{
	struct session *session = codex->session;
	return session && session->exec && exec_sessions_end_background(session->exec, process_id);
}

void codex_close(struct codex *codex)
{
	if (!codex)
		return;
	agents_close(codex);
	if (codex->hear.loop)
		loop_deferred_finish(&codex->hear);
	codex_close_session(codex);
	agents_destroy(codex); /* the Session's calls may have waited for somebody of the tree */
	rollout_stall_finish(&codex->gate);
	resume_wait_finish(&codex->resume_wait);
	sq_finish(&codex->sq);
	eq_finish(&codex->eq);
	config_unref(codex->env.config);
	free(codex->env.cwd);
	free(codex->env.client);
	free(codex->env.client_version);
	free(codex->failure);
	vec_finish(&codex->taken);
	free(codex);
}
