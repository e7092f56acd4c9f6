/* session.h — the Session: Codex's current configuration and state (seed 000). Private to engine/.
 *
 * Owns: history, settings, rollout, running commands, the Task if there is one. Loop thread only. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "base/buf.h"
#include "base/uuid.h"
#include "engine/history/context.h"
#include "engine/session/exec_rules.h"
#include "engine/session/pending.h"
#include "engine/session/session_env.h"
#include "engine/session/settings.h"
#include "loop/loop.h"
#include "model/model_usage.h"
#include "process/detached.h"
#include "command/env_policy.h"
#include "protocol/record/types.h"
#include "rollout/rollout_line.h"
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

/* Another system prompt and another name than the Session's own. */
struct conversation_voice {
	struct str instructions; /* the system prompt; static */
	const char *subagent;    /* the kind of subagent, for the provider */
};

struct conversation {
	struct session *session;
	const struct conversation_voice *voice; /* NULL: the user's conversation */
	struct context context;
	struct settings *announced; /* the settings that the history states; NULL before the first Task */
	size_t announced_at;        /* item count when the history last stated some of them */
	int64_t counted_tokens;     /* of the first counted_items, as the provider counted */
	size_t counted_items;
	size_t compacted_items; /* left by a compaction; the items before them are in the rollout only */
	struct token_usage usage_last;
	struct buf tools; /* the tools array as JSON, for tools_model */
	char *tools_model;
};

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

/* ---- the rollout; without one these are no-ops ---- */

/* Adds a line, which waits in memory until the next flush. A line that is too long is left out, with a warning. */
void session_record(struct session *session, enum rollout_line_type type, struct str payload);
/* Reports that a line of this kind was too long. */
void session_warn_line(struct session *session, enum rollout_line_type type);
/* Adds the lines of an event, if its kind is recorded (rollout_journal.h). */
void session_record_event(struct session *session, struct str turn_id, enum event_tag tag, const void *body);
/* Writes what is pending; called before events leave. Lines that could not be written stay pending. */
int session_flush_rollout(struct session *session, struct error *err);
/* At the end of a Task: flushes, and calls fsync if the configuration wants it per turn. */
void session_sync_rollout(struct session *session);

#endif
