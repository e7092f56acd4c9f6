/* codex_priv.h — the inside of a Codex: its two queues and its Session. Private to engine/. */
#ifndef ENGINE_CODEX_PRIV_H
#define ENGINE_CODEX_PRIV_H

#include "base/vec.h"
#include "engine/codex/resume_wait.h"
#include "engine/codex/codex.h"
#include "engine/codex/queues.h"
#include "engine/codex/rollout_stall.h"
#include "engine/session/session.h"
#include "engine/session/session_env.h"
#include "engine/task/task.h"

struct agent;
struct agent_tree;
struct agent_taken {
	uint64_t sender;
	bool is_interrupt;
};
struct session;

struct codex {
	struct services *services;
	struct session_env env; /* lent to the Session */
	bool steers;            /* input joins a running Task by default */
	codex_event_fn on_event;
	void (*on_child)(struct codex *child, const struct codex_child *about, void *self);
	void *self;
	struct submission_queue sq;
	struct resume_wait resume_wait;
	struct event_queue eq;
	struct session *session; /* NULL until configure_session */
	struct task_owner tasks; /* of the Session's Tasks */
	struct list samples;     /* in progress: struct codex_sample */
	struct rollout_stall gate;
	unsigned holds; /* not yet released */
	bool is_shut_down;
	struct agent_tree *agents;     /* of the root Codex; NULL until one is asked for */
	bool is_quiet;                 /* the root's: what comes to inboxes now begins no Task, but waits for one */
	struct loop_deferred hear;     /* its inbox; with `agent` */
	VEC(struct agent_taken) taken; /* out of its inbox, but not in its history yet */
	char *failure;                 /* a subagent's: why its Task will end */
};

/* One handler an Op, bound by op.def: on_op_<tag>. The submission is borrowed. */
#define OP(tag, wire, record, doc) void on_op_##tag(struct codex *codex, const struct submission *submission);
#define OP_UNIT(tag, wire, doc) void on_op_##tag(struct codex *codex, const struct submission *submission);
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"

/* The Codex that owns this Session. */
static inline struct codex *codex_of(const struct session *session)
{
	return session->env->self;
}

void codex_dispatch(struct codex *codex, const struct submission *submission);
/* Carries out what has been submitted, at once, unless a resume waits. */
void codex_carry_out(struct codex *codex);
/* To whoever listens to this Codex, at once. The event is given away. */
void codex_deliver(struct codex *codex, struct event *event);
/* An error event for a submission that could not be carried out. */
void codex_refuse(struct codex *codex, struct str sub_id, const char *info, const char *message);

#endif
