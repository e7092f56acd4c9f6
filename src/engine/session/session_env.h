/* session_env.h — the facts and callbacks that a Codex lends to its Session for the Session's lifetime.
 *
 * The Session does not know the Codex. The Codex owns the struct. Loop thread only. */
#ifndef ENGINE_SESSION_ENV_H
#define ENGINE_SESSION_ENV_H

#include <stdbool.h>

#include "base/vec.h"
#include "protocol/message/message.h"
#include "protocol/record/types.h"

struct agent;
struct config;
struct accounts;
struct http_client;
struct loop;
struct mcp_pool;
struct model_watch;
struct patch_plan;
struct rollout_sink;
struct session;
struct tool_watch;
struct unfinished;

struct session_ops {
	/* Puts an event on the event queue; copies id and body. */
	/* held: a text whose parts in body need no copy, or NULL. */
	void (*push)(void *self, struct str sub_id, enum event_tag tag, const void *body, struct shared_text *held);
	/* Returns the session that started this one as a subagent; NULL for a root, and while the parent is
	 * unloaded. */
	const struct session *(*parent)(void *self);
	/* Cancels requests outside of the task, because the model client that they use is about to be destroyed. */
	void (*on_model_close)(void *self);
	/* For the tools of subagents: see struct tool_host. */
	struct agent *(*agent)(void *self, bool by_thread);
	/* Called after a patch of the task was written. */
	void (*on_patched)(void *self, const struct patch_plan *plan);
	/* The user has answered a request with "abort": the task must be interrupted. Runs on the loop. */
	void (*on_abort)(void *self);
	/* The AGENTS.md files of an environment have been read: submissions and events no longer wait. */
	void (*carry_on)(void *self);
	/* Requests a number of the sink for calls that wait (session_number_waits), after all events in the queue. */
	void (*settle)(void *self);
};

/* Folders with skills in addition to the configured ones, shared by all Sessions of the process. */
struct skill_roots {
	VEC(struct str) paths; /* owned */
	uint64_t generation;   /* incremented when the paths change */
};

struct session_env {
	const struct session_ops *ops;
	void *self;
	struct loop *loop;
	struct http_client *http;
	struct mcp_pool *mcp; /* the MCP servers of the process */
	struct accounts *accounts;
	const struct model_watch *watch;   /* of the model client; NULL: none */
	const struct tool_watch *calls;    /* of calls of tools; NULL: none */
	struct environments *environments; /* machines on which commands can run */
	struct config *config;
	const struct skill_roots *skill_roots;
	struct agent *agent; /* this session's place in its tree; NULL while there is no tree */
	enum session_source source;
	char *cwd;                           /* default folder; absolute */
	struct str originator;               /* the program that drives the engine */
	char *client, *client_version;       /* name and version of the program that drives this Codex, or NULL */
	const struct rollout_sink *sink;     /* where rollouts are stored; NULL: in files of CODEX_HOME */
	const struct unfinished *unfinished; /* the task that the resumed session continues, or NULL */
	bool ephemeral;                      /* see struct codex_options for this and the following flags */
	bool mutes_output;                   /* emit no exec_command_output_delta */
	bool begins_once_allowed;            /* emit exec_command_begin after the approval */
	bool reports_refusals;               /* emit what was refused before it began */
	bool is_interactive;                 /* a user can answer requests */
	bool reads_record;                   /* session_configured has no initial_messages */
	bool is_unattended;                  /* no user can answer, and the model is informed of it */
	bool serves_tools;                   /* the client carries out calls of its dynamic tools */
	bool is_unhurried;                   /* no request is likely before the user acts */
	bool is_cleared;                     /* the session follows another that the user has cleared */
	bool runs_unasked;                   /* input without items and goals start turns */
};

/* Returns the folder that has the rollouts. */
const char *session_env_rollouts(const struct session_env *env);

#endif
