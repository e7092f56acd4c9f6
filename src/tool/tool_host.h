/* tool_host.h — what a tool may know of, and ask from, the engine above it.
 *
 * Tools never include engine/: the Session fills in this struct and lends it to each call.
 * Everything is borrowed and stays valid until the call has finished or was cancelled. Loop thread. */
#ifndef TOOL_TOOL_HOST_H
#define TOOL_TOOL_HOST_H

#include <stdbool.h>

#include "base/list.h"
#include "base/text.h"
#include "protocol/record/types.h"

struct agent;
struct dynamic_tools;
struct exec_policy;
struct exec_sessions;
struct loop;
struct patch_plan;
struct sandbox_policy;
struct tool_call;

/* Receives the answer to a request of the call: the record of the Op that answers this kind of request, borrowed during
 * the call (struct review_decision, user_input_answers, dynamic_tool_answer). */
typedef void (*tool_answer_fn)(struct tool_call *call, const void *answer);

struct tool_host {
	struct loop *loop;
	const char *cwd;       /* absolute folder of the Task */
	const char *thread_id; /* Session */
	struct str turn_id;    /* Task; gone when it ends: calls keep a copy */
	const struct ask_for_approval *approval_policy;
	const struct sandbox_policy *sandbox;
	enum mode_kind mode;
	enum reasoning_effort effort;        /* of the Task; the model's default where none was chosen */
	bool offers_update_plan;             /* to the model */
	bool has_collab;                     /* features.collab */
	bool asks_in_default_mode;           /* request_user_input is not for plan mode alone */
	bool is_unattended;                  /* no user can answer a question */
	bool allows_login_shell;             /* to the model's commands */
	uint64_t question_timeout_ms;        /* how long one waits for an answer; 0: for ever */
	const struct dynamic_tools *dynamic; /* of the client, which is there to carry them out; or NULL */
	struct exec_sessions *exec;          /* background commands of the Session */
	bool mutes_output;                   /* the front end shows no output while a command runs */
	bool begins_once_allowed; /* a command that is asked about begins after the answer, not before the question */
	bool is_held;             /* backpressure: the output of commands is not read (exec_command.h) */
	struct list commands;     /* that have been started: struct exec_command, by tool/ */
	struct text_budget output_budget; /* most of a tool's output that the model gets */

	/* The environment of a command, NULL-terminated; valid until the next call. For the model's commands it has
	 * variables that describe the sandbox and disable interactive programs. */
	const char *const *(*command_env)(struct tool_host *host, bool is_model);
	/* Puts an event on the queue (copied). turn_id: of the Task it belongs to, which may have ended. */
	void (*emit)(struct tool_host *host, struct str turn_id, enum event_tag tag, const void *body);
	/* Registers the request, then emits its event: EV_exec_approval_request, EV_apply_patch_approval_request,
	 * EV_request_user_input or EV_dynamic_tool_call_request. `answer` runs later, at most once, and never after the
	 * call was cancelled. */
	void (*ask)(struct tool_host *host, struct tool_call *call, enum event_tag tag, const void *body,
	            tool_answer_fn answer);
	/* Removes the call's requests: their answers will not run. */
	void (*unask)(struct tool_host *host, struct tool_call *call);
	/* A patch has been written; the plan is borrowed. */
	void (*patched)(struct tool_host *host, const struct patch_plan *plan);
	/* The user said abort: the Task is to be interrupted. */
	void (*interrupt)(struct tool_host *host);
	/* True if that exact command line was approved for the session before; remember adds it. */
	bool (*is_approved)(struct tool_host *host, struct str key);
	void (*remember)(struct tool_host *host, struct str key);
	/* The Session's node in the tree of agents. by_thread: for the tools that identify agents by thread id. NULL:
	 * the Session does not have these tools. */
	struct agent *(*agent)(struct tool_host *host, bool by_thread);
	/* The user's rules for commands; read on first use. amend stores a rule that allows commands with these first
	 * words. */
	const struct exec_policy *(*rules)(struct tool_host *host);
	void (*amend)(struct tool_host *host, const struct str *words, size_t count);
};

#endif
