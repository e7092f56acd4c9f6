/* codex_data.h — the data of a Codex: its queues, its session, and the tasks and subagents that use them. Private to
 * engine/codex/.
 *
 * codex.c is its lifecycle. The subjects of this folder (agents, codex_session, the Ops) work on this struct; those
 * that do not need it (queues, resume_wait, sample) are embedded in it and do not know it. */
#ifndef ENGINE_CODEX_DATA_H
#define ENGINE_CODEX_DATA_H

#include "base/vec.h"
#include "engine/codex/codex_options.h"
#include "engine/codex/mcp_wait.h"
#include "engine/codex/queues.h"
#include "engine/codex/resume_wait.h"
#include "engine/codex/sample.h"
#include "engine/session/session.h"
#include "engine/session/session_env.h"
#include "engine/task/task.h"

struct accounts;
struct agent_tree;
struct environments;
struct error;
struct hook_batch;
struct http_client;
struct mcp_pool;
struct settle_job;
struct telemetry;

/* Shared by all Codexes of a process. */
struct services {
	struct loop *loop;
	struct http_client *http; /* created for the first request */
	struct mcp_pool *mcp;     /* MCP servers that the Codexes share */
	struct accounts *accounts;
	struct environments *environments;
	char *originator; /* the program that drives the engine: "codex_exec", … */
	struct skill_roots skill_roots;
};

enum answer_outcome {
	ANSWER_taken,
	ANSWER_unknown,   /* no such request is pending */
	ANSWER_ambiguous, /* several such requests are pending; the client was warned */
};

/* The lifecycle of a Codex, for the subjects that own one (a subagent is a Codex that another one owns) and
 * for the Ops. */
struct codex_ops {
	struct codex *(*open)(const struct codex_options *options);
	/* Creates the session and emits session_configured with sub_id. After an error there is no session. */
	int (*open_session)(struct codex *codex, struct str sub_id, const struct op_configure_session *op,
	                    struct error *err);
	/* Carries out all pending submissions. */
	void (*carry_out)(void *codex);
	/* Answers a request of the Session, or of a subagent whose requests are events of this Codex; see codex_answer.
	 * There must be a Session. */
	enum answer_outcome (*answer)(struct codex *codex, enum event_tag asks, struct str id, const void *answer);
	void (*hold)(struct codex *codex, bool is_held);
	void (*close)(struct codex *codex);
};

/* A message that was taken from an inbox and is not in the recorded history yet. */
struct agent_taken {
	uint64_t sender;
	bool is_interrupt;
};

struct codex {
	const struct codex_ops *ops;
	struct services *services;
	struct session_env env; /* lent to the session; env.agent is its place in the tree */
	bool steers;            /* input joins a running task by default */
	codex_event_fn on_event;
	codex_child_fn on_child;
	bool asks_for_children; /* requests of subagents are events of this Codex */
	codex_room_fn on_room;
	void *self; /* passed to on_event, on_child and on_room */
	struct submission_queue sq;
	struct resume_wait resume_wait;
	struct mcp_wait mcp_wait;
	struct event_queue eq;
	struct session *session; /* NULL before configure_session */
	struct task_owner tasks; /* lent to the session's tasks */
	struct samples samples;
	struct rollout_stall stall;
	struct telemetry *telemetry; /* NULL: off */
	struct tool_watch calls;     /* reports to it */
	unsigned holds;              /* number of holds that were not released */
	bool is_shut_down;
	bool has_succeeded;              /* the last Task did, or a goal was set: the goal may start the next one */
	struct loop_deferred goal;       /* starts it */
	struct hook_batch *ending;       /* SessionEnd hooks, which shutdown_complete waits for; else NULL */
	char *ending_id;                 /* the submission that waits */
	void (*on_farewell)(void *self); /* called when these hooks have ended; NULL: no call is due */
	void *farewell_self;
	/* Used by agents.c. */
	struct agent_tree *agents;     /* for a root; NULL before its first subagent */
	bool is_quiet;                 /* for a root: messages to inboxes start no task */
	struct loop_deferred hear;     /* reads the inbox; set up with env.agent */
	VEC(struct agent_taken) taken; /* messages taken from the inbox */
	char *failure;                 /* for a subagent: the error that ends its task */
	char *reopen_failure;          /* for a subagent: the error of its resume */
	bool is_announced;             /* for a subagent: on_child was called with it */
	struct settle_job *settling;   /* for a root: reads rollouts of subagents while Ops and events wait */
};

/* Returns the Codex that owns this session. */
static inline struct codex *codex_of(const struct session *session)
{
	return session->env->self;
}

#endif
