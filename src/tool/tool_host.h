/* tool_host.h — the interface of the engine for tools.
 *
 * Tools never include engine/: the session fills in this struct and lends it to each call. Everything is borrowed
 * and remains valid until the call has finished or was cancelled. Loop thread only. */
#ifndef TOOL_TOOL_HOST_H
#define TOOL_TOOL_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"
#include "base/text.h"
#include "protocol/record/types.h"

struct agent;
struct code_cells;
struct dynamic_tools;
struct environment;
struct environment_place;
struct exec_policy;
struct exec_sessions;
struct loop;
struct mcp_offer;
struct mcp_await;
struct patch_plan;
struct sandbox_policy;
struct tool_call;

/* Receives the answer to a request of the call: the record of the Op that answers this kind of request, borrowed during
 * the call (struct review_decision, user_input_answers, dynamic_tool_answer, op_resolve_elicitation). */
typedef void (*tool_answer_fn)(struct tool_call *call, const void *answer);

/* A step of a call that must not begin before what was emitted is stored outside of the process. Embedded in its
 * owner, which calls list_init on the link first and list_remove when it ends. */
struct tool_wait {
	struct list link;
	void (*then)(struct tool_wait *wait); /* called once, outside of the call that waits */
	uint64_t number;                      /* private to the engine */
};

typedef void (*tool_ended_fn)(struct tool_call *call, void *self);

/* Folders to write to, and the network, that the user grants for the task or for the session. Borrowed. */
struct tool_grant {
	struct environment *environment; /* NULL: on this machine */
	struct str *roots;
	size_t count;
	bool network, for_session;
};

/* Learns of calls for telemetry. */
struct tool_watch {
	/* source: who has decided about a command or patch: "Config", "User", "AutomatedReviewer". */
	void (*on_decision)(const struct tool_call *call, const char *decision, const char *source, void *self);
	/* A call that was started has ended; the hooks after it have not run. Not called for one that was cancelled. */
	void (*on_end)(const struct tool_call *call, void *self);
	void *self;
};

struct tool_host {
	struct loop *loop;
	const struct tool_watch *watch; /* NULL: none */
	const char *cwd;                /* absolute working folder of the task's commands */
	/* the machine on which they run; NULL: this one */
	struct environment *environment;
	const struct environment_place *further; /* places that a call can name instead of that one */
	size_t further_count;
	const char *thread_id; /* id of the session */
	struct str turn_id;    /* id of the task, freed at its end: calls keep a copy */
	const struct ask_for_approval *approval_policy;
	const struct sandbox_policy *sandbox;
	const struct sandbox_policy *settings_sandbox; /* without what the user has granted */
	enum mode_kind mode;
	enum reasoning_effort effort;        /* the task's effort; the model's default unless one was chosen */
	bool offers_update_plan;             /* the model is offered update_plan */
	bool has_collab;                     /* true if features.collab is on */
	bool has_team;                       /* true if features.multi_agent_v2 is on */
	bool asks_in_default_mode;           /* request_user_input is allowed outside of plan mode */
	bool is_unattended;                  /* no user can answer a question */
	bool is_subagent;                    /* its user is another agent */
	bool has_reviewer;                   /* requests for approval are answered without the user */
	bool allows_login_shell;             /* the model may request login shells */
	uint64_t question_timeout_ms;        /* time limit of a question to the user; 0: no limit */
	const struct dynamic_tools *dynamic; /* tools that the client has provided and carries out, or NULL */
	struct exec_sessions *exec;          /* background commands of the session */
	bool mutes_output;                   /* the front end shows no output while a command runs */
	bool begins_once_allowed; /* a command that needs approval begins after the approval, not before the request */
	bool reports_refusals;    /* a command or patch that is refused before it begins is reported to the front end */
	bool is_held;             /* backpressure: output of commands is not read (exec_command.h) */
	bool is_idle;             /* no task runs: scripts start no calls */
	struct {
		bool is_on;                /* the tools exec and wait exist */
		bool has_clock;            /* the tools of the gpt-6 models exist */
		const char *refusal;       /* why no script can run; NULL: it can */
		const char *program;       /* the host of scripts */
		const char *path, *engine; /* "PATH=…" and "CODEX_CODE_MODE_ENGINE=…" for it; engine may be NULL */
		struct str tools;          /* the tools array that scripts have */
		struct code_cells *cells;  /* running scripts of the session */
	} code;
	struct list sleeps;               /* struct sleep, maintained by tool_clock.c */
	struct list commands;             /* struct exec_command of started commands, maintained by tool/ */
	struct text_budget output_budget; /* limit of a tool's output for the model */

	/* Returns the environment of a command, NULL-terminated and valid until the next call. For the model's
	 * commands it contains variables that describe the sandbox and disable interactive programs. For a command in
	 * an environment it contains these alone. */
	const char *const *(*command_env)(struct tool_host *host, const struct environment *environment, bool is_model,
	                                  struct str call_id);
	/* Returns the variables that commands in an environment inherit there, as JSON, valid until the next call. */
	struct str (*inherited_env)(struct tool_host *host);
	/* Notes that a call is about to have effects. True: wait->then follows when this and all events before it are
	 * stored. False: they need not be, so the effects may begin at once. */
	bool (*settle)(struct tool_host *host, struct tool_wait *wait, struct str call_id);
	/* Puts an event on the queue, copied. turn_id: the task that it belongs to, which may have ended. */
	void (*emit)(struct tool_host *host, struct str turn_id, enum event_tag tag, const void *body);
	/* Registers the request, then emits its event: EV_exec_approval_request, EV_apply_patch_approval_request,
	 * EV_request_user_input, EV_dynamic_tool_call_request or EV_elicitation_request. `answer` runs later, at most
	 * once, and never after the call was cancelled. */
	void (*ask)(struct tool_host *host, struct tool_call *call, enum event_tag tag, const void *body,
	            tool_answer_fn answer);
	/* True if a request of the session waits for the user. */
	bool (*is_asking)(struct tool_host *host);
	/* Adds an item (JSON) to the history as soon as every call there has its output. */
	void (*add_item)(struct tool_host *host, struct str item);
	/* For calls that a script makes: starts the call after the hooks before it; runs the hooks after it, then
	 * `then`; drops its hooks and requests. */
	void (*start_nested)(struct tool_host *host, struct tool_call *call);
	void (*end_nested)(struct tool_host *host, struct tool_call *call, tool_ended_fn then, void *self);
	void (*drop_nested)(struct tool_host *host, struct tool_call *call);
	/* Removes the request with this id, if it is pending. */
	void (*withdraw)(struct tool_host *host, struct str id);
	/* Removes the call's requests: their answer functions are not called. */
	void (*unask)(struct tool_host *host, struct tool_call *call);
	/* Called after a patch was written; the plan is borrowed. */
	void (*patched)(struct tool_host *host, const struct patch_plan *plan);
	/* The user has answered with abort: the task must be interrupted. */
	void (*interrupt)(struct tool_host *host);
	/* True if exactly this command line was approved for the session before; remember records an approval. */
	bool (*is_approved)(struct tool_host *host, struct str key);
	void (*remember)(struct tool_host *host, struct str key);
	/* Widens the sandbox of later calls. ERR_denied: the administrator's requirements exclude it. */
	must_check int (*grant)(struct tool_host *host, const struct tool_grant *grant, struct error *err);
	/* Returns the sandbox with what was granted there; NULL: nothing was. The function is NULL before a grant. */
	const struct sandbox_policy *(*granted)(const struct tool_host *host, const struct environment *environment);
	/* Removes granted folders that are no longer what was granted, before each call. NULL: nothing was granted. */
	void (*recheck)(struct tool_host *host);
	/* Fills the goal of the session, borrowed until it changes. False: the session has no goal. */
	bool (*goal)(struct tool_host *host, struct thread_goal *ret);
	must_check int (*change_goal)(struct tool_host *host, const struct goal_change *change, struct error *err);
	/* Returns the session's node in the tree of agents. by_thread: for tools that identify agents by thread id.
	 * NULL if the session does not have these tools. */
	struct agent *(*agent)(struct tool_host *host, bool by_thread);
	/* Sets call->mcp if call->name names a tool of an MCP server that the model was offered. NULL: there are no
	 * servers. */
	void (*bind_mcp)(struct tool_host *host, struct tool_call *call, struct str namespace);
	/* Returns the servers and tools that the model was offered, borrowed until the next request to it. NULL: there
	 * are no servers. */
	const struct mcp_offer *(*mcp_offer)(struct tool_host *host);
	/* True if the wait has begun: its server, or any, is starting. mcp_offer has its tools afterwards. NULL: there
	 * are no servers. */
	bool (*await_mcp)(struct tool_host *host, struct mcp_await *wait);
	/* Stores in the user's configuration that this tool needs no approval. */
	void (*approve_mcp)(struct tool_host *host, struct str server, struct str tool);
	/* False if that configuration does not have the server, so that approve_mcp would fail. */
	bool (*stores_mcp)(struct tool_host *host, struct str server);
	/* Returns the user's rules for commands, which are read when first needed. amend stores a rule that allows
	 * commands with these first words. */
	const struct exec_policy *(*rules)(struct tool_host *host);
	void (*amend)(struct tool_host *host, const struct str *words, size_t count);
};

/* Returns the policy of a call there. */
static inline const struct sandbox_policy *tool_host_policy(const struct tool_host *host,
                                                            const struct environment *environment)
{
	const struct sandbox_policy *granted = host->granted ? host->granted(host, environment) : NULL;
	return granted ? granted : host->settings_sandbox;
}

#endif
