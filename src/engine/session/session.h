/* session.h — the Session: configuration, history, rollout, pending requests and the host of its tool calls. Private to
 * engine/.
 *
 * It is data, with functions that emit events and record them; the Codex creates it, runs Tasks on it and ends it
 * (engine/codex/codex_session.h). Owns: all fields except env and those marked as borrowed. Loop thread only. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "base/buf.h"
#include "base/error.h"
#include "base/uuid.h"
#include "engine/history/context.h"
#include "engine/session/exec_rules.h"
#include "engine/session/pending.h"
#include "engine/session/session_env.h"
#include "engine/session/settings.h"
#include "engine/session/turn_ids.h"
#include "loop/loop.h"
#include "model/model_usage.h"
#include "process/detached.h"
#include "command/env_policy.h"
#include "protocol/record/types.h"
#include "rollout/rollout_line.h"
#include "tool/tool_host.h"

struct dynamic_tools;
struct guardian;
struct model_client;
struct model_provider;
struct rollout_journal;
struct resume_load;
struct rollout_writer;
struct session_goal;
struct session_grants;
struct session_hooks;
struct session_mcp;
struct session_skills;
struct session_window;
struct shared_text;
struct task;

/* The system prompt and the name of a conversation that is not the user's. */
struct conversation_voice {
	struct str instructions; /* constant */
	const char *subagent;    /* the kind of subagent, as reported to the provider */
};

struct conversation {
	struct session *session;
	const struct conversation_voice *voice; /* NULL: the user's conversation */
	struct context context;
	struct model_memo *memo;    /* the history as the provider's wire has it; NULL: not converted yet */
	struct settings *announced; /* the settings that the history describes; NULL before the first Task */
	size_t announced_at;        /* item count when they were last described */
	int64_t counted_tokens;     /* token count of the first counted_items, from the provider */
	size_t counted_items;
	/* number of items that the last compaction kept; earlier ones are only in the rollout */
	size_t compacted_items;
	struct token_usage usage_last;
	struct buf tools; /* JSON array of the tools that tools_model is offered */
	char *tools_model;
	struct buf code_tools;             /* JSON array of the tools that scripts have; as old as tools */
	enum web_search_mode tools_search; /* the mode that tools has */
	bool tools_have_places;            /* tools has arguments for them */
	uint64_t docs_number;              /* environment_docs_number of those that the history has */
};

/* Hooks and the reviewer, who answer requests for approval before the user is asked (session_permission.h). */
struct session_permission_ops {
	bool (*start)(struct session *session, struct tool_call *call, enum event_tag tag, const void *body,
	              tool_answer_fn answer);
	void (*drop)(struct session *session, const struct tool_call *call);
};

struct session {
	const struct session_env *env;    /* lent by the owner */
	char id[UUID_TEXT_SIZE];          /* the thread id */
	struct settings *settings;        /* settings of the next task */
	struct conversation conversation; /* the user's conversation */
	struct task *task;                /* the running task, or NULL */
	struct turn_ids turn_ids;         /* of its tasks */
	const struct session_permission_ops *permission_ops;
	struct list permissions;             /* requests that wait for hooks (session_permission.h) */
	struct list waits;                   /* struct tool_wait: calls that wait until their begin is stored */
	struct list nested_hooks;            /* hooks of calls that scripts make (nested_hooks.h) */
	struct list requests;                /* to the user and the client, unanswered (pending.h) */
	struct dynamic_tools *dynamic_tools; /* tools provided by the client; NULL: none */
	struct exec_rules rules;
	struct session_skills *skills;   /* NULL until skills are first used */
	struct session_mcp *mcp;         /* MCP servers */
	struct session_hooks *hooks;     /* commands that run on events */
	struct session_goal *goal;       /* NULL: none (session_goal.h) */
	struct list reviews;             /* struct guardian_review that run */
	struct guardian *guardian;       /* NULL until the first review (guardian.h) */
	struct list mcp_approvals;       /* being stored (mcp_approval_store.h) */
	struct list mcp_lists;           /* unanswered list_mcp_tools (session_mcp_list.h) */
	struct rollout_writer *rollout;  /* NULL: the session is ephemeral */
	struct rollout_journal *journal; /* converts events to lines of the rollout */
	struct resume_load *resumed;     /* NULL after the warnings of a resume were emitted */
	struct model_provider *provider;
	struct model_client *model; /* client for that provider */
	struct exec_sessions *exec;
	struct list shells;                    /* running commands of the user: struct session_shell */
	struct buf unheard;                    /* items that wait for the next turn: JSON, one per line */
	struct session_grants *grants;         /* NULL: the user has granted nothing */
	struct env command_env;                /* built for each command */
	struct buf inherited_env;              /* built for each command in an environment */
	struct environment_docs *docs;         /* of an environment; NULL: none was read */
	uint64_t docs_count;                   /* times that docs were read */
	bool has_new_environment;              /* the rollout does not name that of the settings yet */
	struct loop_deferred interrupt;        /* pending if the answer to a request was "abort" */
	struct loop_deferred asked;            /* a request of a tool has ended */
	struct shared_text *base_instructions; /* the system prompt */
	bool has_own_base;                     /* the prompt is not the built-in one, so no personality is added */
	/* The personality in the system prompt. With a first model that has no personalities it is the default, so that
	 * the preamble describes only a different one to a later model. */
	enum personality base_personality;
	char *user_instructions; /* instructions of configure_session, in addition to AGENTS.md */
	bool has_usage;
	struct token_usage usage_total;
	struct rate_limits *limits; /* as emitted last; allocated in limits_arena */
	struct arena limits_arena;
	/* the history was recorded as a whole, so turns cannot be counted from the end of the file */
	bool has_new_history;
	struct session_window *window; /* the question for the context window of an unknown model; NULL: not asked */
	bool has_warned_code;          /* … of code mode that the model is not made for, or that cannot work */
	char *code_program;            /* the host of scripts; found when it is needed (session_code_need) */
	char *code_path, *code_engine;
	struct {
		struct str *words; /* allocated in the arena */
		size_t count;      /* 0: use the configured program */
		struct arena arena;
	} notify;                /* the notification program of configure_session */
	struct detached notices; /* notification programs that are being started */
	bool is_private;         /* forbids the provider to store responses */
	struct tool_host host;   /* lent to tool calls */
	struct settings *lent;   /* those of the host: calls of scripts may outlive the task */
};

/* Returns the id of the submission that started the running task, or "". */
struct str session_task_submission(const struct session *session);
/* Puts an event on the event queue, which takes a copy, except of the parts of the held text (NULL: none). sub_id: of a
 * submission, or of a turn for that of its submission. */
void session_push(struct session *session, struct str sub_id, enum event_tag tag, const void *body,
                  struct shared_text *held);
/* Emits an event and records it: session_push, then session_record_event. */
void session_emit(struct session *session, struct str sub_id, enum event_tag tag, const void *body);
/* Emits item_started or item_completed. */
void session_emit_item(struct session *session, struct str turn_id, enum event_tag tag, struct turn_item *item);
/* The two halves of the emission of item_completed, for an item with a large text that the history gets in between:
 * held is the text of the history. */
void session_record_completed(struct session *session, struct str turn_id, struct turn_item *item);
void session_push_completed(struct session *session, struct str turn_id, struct turn_item *item,
                            struct shared_text *held);
void session_warn(struct session *session, struct str sub_id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Changes the settings of later Tasks. On error nothing changes. */
must_check int session_change_settings(struct session *session, const struct settings_change *change,
                                       struct error *err);

/* Answers a pending request (pending.h). False, and the answer has no effect, if there is no such request, or if the
 * answer to another one is about to abort the Task. */
must_check bool session_answer(struct session *session, enum pending_kind kind, struct str id, const void *answer);

/* Marks a denied item in the rollout, and notes the decision. source: see struct tool_watch. */
void session_record_decision(struct session *session, const struct tool_call *call,
                             const struct review_decision *decision, const char *source);
/* Drops the requests of a call without an answer; NULL: all. */
void session_drop_requests(struct session *session, const struct tool_call *call);

/* ---- calls that wait for the sink (rollout_sink.h) ---- */

/* Gives calls that have begun to wait their number. All events must have left the queue. */
void session_number_waits(struct session *session);
/* Starts the effects of the calls whose number was reached. */
void session_settle(struct session *session, uint64_t number);

/* ---- the host of its tool calls (tool_host.h) ---- */

void session_host_init(struct session *session);
/* Sets the data of a task that starts; turn_id and settings must live as long as the task. */
void session_lend_host(struct session *session, struct str turn_id, const struct settings *settings);
/* Terminates the commands that still run, without events, and drops the pending requests. */
void session_host_finish(struct session *session);

/* ---- the rollout; without one these are no-ops ---- */

/* Adds a line, which stays in memory until the next flush. A line that is too long is omitted, with a warning. */
void session_record(struct session *session, enum rollout_line_type type, struct str payload);
/* Warns that a line of this kind was too long. */
void session_warn_line(struct session *session, enum rollout_line_type type);
/* Creates the journal, unless it exists. There must be a rollout. */
void session_open_journal(struct session *session);
/* Adds the lines of an event, if its kind is recorded (rollout_journal.h). */
void session_record_event(struct session *session, struct str turn_id, enum event_tag tag, const void *body);
/* Writes pending lines; called before events are delivered. Lines that could not be written stay pending. */
must_check int session_flush_rollout(struct session *session, struct error *err);
/* To be called at the end of a task: flushes, and calls fsync if the configuration requires it per turn. */
void session_sync_rollout(struct session *session);

#endif
