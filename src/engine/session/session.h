/* session.h — the Session: Codex's current configuration and state (seed 000). Private to engine/.
 *
 * Owns: history, settings, rollout, running commands, the Task if there is one. Loop thread only. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "base/buf.h"
#include "base/uuid.h"
#include "engine/session/conversation.h"
#include "engine/session/exec_rules.h"
#include "engine/session/pending.h"
#include "engine/session/session_env.h"
#include "engine/session/settings.h"
#include "loop/loop.h"
#include "model/model_usage.h"
#include "process/detached.h"
#include "command/env_policy.h"
#include "protocol/record/types.h"
#include "tool/tool_host.h"

struct dynamic_tools;
struct error;
struct model_client;
struct model_provider;
struct rollout_journal;
struct resume_load;
struct rollout_writer;
struct session_skills;
struct task;

struct session {
	const struct session_env *env;       /* lent by the owner */
	char id[UUID_TEXT_SIZE];             /* thread id */
	struct settings *settings;           /* of the next Task */
	struct conversation conversation;    /* the user's */
	struct task *task;                   /* at most one */
	struct pending pending;              /* requests to the user and the client */
	struct dynamic_tools *dynamic_tools; /* that the client provides; NULL: none */
	struct exec_rules rules;
	struct session_skills *skills;   /* NULL until somebody needs them */
	struct rollout_writer *rollout;  /* NULL: ephemeral */
	struct rollout_journal *journal; /* the rollout's events */
	struct resume_load *resumed;     /* from the resume until its warnings are told */
	struct model_provider *provider;
	struct model_client *model; /* of that provider */
	struct exec_sessions *exec;
	struct list shells;             /* commands of the user's own that run: struct session_shell */
	struct buf unheard;             /* what came of them, not in the history yet: items as JSON, one per line */
	struct env command_env;         /* made when a command runs */
	struct loop_deferred interrupt; /* a tool's user said abort */
	char *base_instructions;        /* the system prompt */
	bool has_own_base;              /* which is not ours: it says itself how the model talks */
	/* That the system prompt asks for, none: for no particular one. Where the first model takes no wish it is the
	 * default, so that a later model is told of another one only. */
	enum personality base_personality;
	char *user_instructions; /* from configure_session, beside AGENTS.md */
	bool has_usage;
	struct token_usage usage_total;
	struct rate_limits *limits; /* as last told; in limits_arena */
	struct arena limits_arena;
	bool has_new_history;  /* recorded whole, so that its turns cannot be counted from the end of the file */
	bool has_warned_model; /* the warning about an unknown model was given */
	struct {
		struct str *words; /* in the arena */
		size_t count;      /* 0: the configured one */
		struct arena arena;
	} notify;                /* the program of configure_session */
	struct detached notices; /* being started */
	bool is_private;         /* the provider shall keep nothing, whatever is configured */
	struct tool_host host;   /* lent to tool calls */
};

/* Makes the Session; emits warnings at most. NULL and err if it cannot be. load: the rollout that op resumes, or NULL;
 * taken over. */
struct session *session_create(const struct session_env *env, const struct op_configure_session *op,
                               struct resume_load *load, struct error *err);
/* Emits session_configured with sub_id, and what follows it. */
void session_announce(struct session *session, struct str sub_id);
/* The settings that a further configure_session asks for, now the caller's; NULL and err if it cannot be applied. */
struct settings *session_check_configure(const struct session *session, const struct op_configure_session *op,
                                         struct error *err);
/* Applies it; history and id stay. Takes settings over. Nothing of the Session may run. */
int session_reconfigure(struct session *session, struct str sub_id, const struct op_configure_session *op,
                        struct settings *settings, struct error *err);
/* What runs in it has ended. NULL is fine. */
void session_destroy(struct session *session);

/* Puts an event on the event queue. */
void session_push(struct session *session, struct str sub_id, enum event_tag tag, const void *body);
/* The same, and records it if its kind is recorded. */
void session_emit(struct session *session, struct str sub_id, enum event_tag tag, const void *body);
/* Answers a pending request of the Session (pending.h). False, and the answer has no effect, if there is no such
 * request, or if the answer to another one is about to abort the Task. */
bool session_answer(struct session *session, enum pending_kind kind, struct str id, const void *answer);
/* item_started or item_completed. */
void session_emit_item(struct session *session, struct str turn_id, enum event_tag tag, struct turn_item *item);
void session_warn(struct session *session, struct str sub_id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Takes over changed settings for later Tasks. */
int session_change_settings(struct session *session, const struct settings_change *change, struct error *err);
/* Forgets what came after the mark, and says so in the rollout. No Task may run. */
void session_rewind(struct session *session, const struct context_mark *mark);
/* Forgets everything and goes on from a response that only the provider has. No Task may run. */
void session_go_elsewhere(struct session *session, struct str response_id);
#endif
