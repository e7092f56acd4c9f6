/* thread.h — a loaded thread as data: one Codex, its subscribers, its current turn, and what the wire says of it.
 *
 * The modules above give it its life: thread_open.h creates it, thread_unload.h adds and removes clients and
 * ends it, thread_turn.h, thread_items.h and thread_ask.h change its parts. Borrows: the server, the connections of its
 * subscribers. Loop thread only. An idle thread costs its Codex and a few hundred bytes. */
#ifndef APP_SERVER_THREAD_H
#define APP_SERVER_THREAD_H

#include "app_server/threads/thread_note.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "protocol/message/app.h"

struct app_server;
struct codex;
struct config;
struct connection;
struct rpc_request;
struct thread;
struct thread_load;

/* Answers the request that opened a thread, once the Session is configured. */
typedef void (*thread_answer_fn)(struct thread *thread, struct rpc_request *request);

/* How a thread is opened. */
struct thread_opening {
	const struct app_thread_start_params *params; /* of the client; in the request's arena */
	struct op_configure_session session;          /* settings beside the parameters and the configuration */
	struct str cwd;                               /* absolute; the parameters take precedence; may be absent */
	struct thread_load *load;                     /* the rollout to continue, or NULL; owned */
	const char *refusal;                          /* prefix of the error message */
	thread_answer_fn answer;
};

struct thread_subscriber {
	struct connection *connection;
	bool is_held; /* it holds the Codex because it is slow */
};

/* A root thread and the threads of its subagents, as thread_unload.c sees them. */
struct thread_family {
	bool is_followed, is_busy;
	uint64_t left_ms; /* the latest of them */
};

/* The turn of a thread that runs or is queued: a Task, seen from outside. */
struct thread_turn {
	/* read-only */
	char id[UUID_TEXT_SIZE];
	bool is_service; /* a compaction or a command of the user, without input for the model */
	bool is_started; /* its Task runs; before, the submission is queued */
	bool is_review;  /* takes no input */
	int64_t started_at_ms;
	const struct app_turn_error *error; /* in `kept`, or NULL */
	/* of thread_turn.c */
	struct thread *thread;
	VEC(struct rpc_request *) interrupts;
	struct arena kept;
	struct arena last_arena;
	struct app_item_agent_message *last_message; /* in last_arena, or NULL */
};

struct thread {
	/* read-only */
	char id[UUID_TEXT_SIZE]; /* "" until its Session is configured */
	struct app_server *server;
	struct codex *codex;
	struct config *config;
	struct app_thread_settings *settings; /* of the next turn; NULL until configured */
	char *path;                           /* of its rollout, or NULL */
	char *preview;                        /* the user's first message, or NULL */
	char *name;                           /* or NULL */
	char *forked_from;                    /* id of the thread whose history it began with, or NULL */
	struct app_git_info *git;             /* the repository it began in, or NULL */
	struct thread_note note;              /* read state and corrections, in note_arena */
	char *originator, *client_version;    /* of the client that started it */
	int64_t created_at, updated_at;       /* Unix seconds */
	uint64_t left_ms;                     /* when it last became idle without subscribers; monotonic */
	int64_t usage_total, usage_last;      /* tokens of the thread and of its last request, as last notified */
	int64_t elicitations;              /* out-of-band questions of clients; the Codex is held while there are any */
	struct thread *root;               /* of a subagent's: the thread whose Codex owns its own; else NULL */
	struct app_session_source *source; /* of a subagent's, in origin_arena; else NULL */
	bool is_ephemeral;
	bool has_failed;          /* the last turn did */
	char *last_turn_id;       /* the one that ended last, or NULL */
	struct thread_turn *turn; /* the one that runs or is queued, or NULL */
	struct list items;        /* struct thread_item: started, not completed */
	VEC(struct thread_subscriber) subscribers;
	struct rpc_request *starting; /* waits for the Session; NULL once it is configured */
	/* private */
	struct list link;   /* in the server's threads, oldest first */
	struct list bucket; /* in the table by id */
	struct arena settings_arena;
	struct arena note_arena;
	struct arena origin_arena;     /* source and repository from the rollout */
	struct thread_opening opening; /* while `starting` is set */
	struct thread_family family;   /* of a root; valid while thread_unload.c looks */
	bool is_dead;                  /* to be destroyed outside the engine's callbacks */
};

/* A thread without a Codex that threads.h does not know yet. */
struct thread *thread_create(struct app_server *server, const char *originator, const char *client_version);
/* Frees the data. The Codex, the turn, the items and the pending requests have been ended (thread_unload.h). */
void thread_free(struct thread *thread);

/* ---- views ---- */

/* Fills a record for the wire, without turns; what it points to lives in the arena or in the thread. */
void thread_view(const struct thread *thread, struct arena *arena, struct app_thread *ret);
/* The one environment in which commands with these settings run. */
struct app_thread_environment *thread_environment(const struct app_thread_settings *settings, struct arena *arena);

/* ---- changes ---- */

/* Replaces the settings by a copy. */
void thread_set_settings(struct thread *thread, const struct app_thread_settings *settings);
/* The last turn that has ended, after which a sample may be taken; absent: none. */
void thread_set_last_turn(struct thread *thread, struct str id);
/* Replaces the note by a copy, in memory only. */
void thread_set_note(struct thread *thread, const struct thread_note *note);

/* ---- notifications ---- */

bool thread_has_subscriber(const struct thread *thread, const struct connection *connection);
/* Sends the notification to the audience of its row: the subscribers, or all clients. */
void thread_notify(struct thread *thread, enum app_notification_tag tag, const void *params);
/* turn/failed and turn/cancelled: only to subscribers that have asked for outcomes. */
void thread_notify_outcome(struct thread *thread, enum app_notification_tag tag, const void *params);
void thread_notify_status(struct thread *thread);
/* The status notLoaded, before the thread is destroyed. */
void thread_notify_not_loaded(struct thread *thread);
/* The token usage after a turn, to one client or (NULL) to all subscribers. */
void thread_notify_usage(struct thread *thread, struct str turn_id, const struct token_usage_info *info,
                         struct connection *only);

#endif
