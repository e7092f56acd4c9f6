/* thread.h — the data of a loaded thread: its Codex, its subscribers, its current turn, and its description for
 * clients.
 *
 * Other modules manage its life: thread_open.h creates it, thread_unload.h adds and removes clients and ends it,
 * thread_turn.h, thread_items.h and thread_ask.h change its parts. Borrows: the server, the connections of its
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
struct attach_point;
struct codex;
struct config;
struct connection;
struct loop_timer;
struct rpc_request;
struct thread;
struct thread_load;

/* Answers the request that opened a thread, after the session was configured. */
typedef void (*thread_answer_fn)(struct thread *thread, struct rpc_request *request);

/* Environments that are selected, the first of which is where calls act that name none. */
struct thread_selection {
	struct app_thread_environment *list;
	size_t count; /* 0: nothing is selected */
};

/* How a thread is opened. */
struct thread_opening {
	const struct app_thread_start_params *params; /* parameters of the client, in the request's arena */
	struct op_configure_session session;          /* settings in addition to the parameters and the configuration */
	struct str cwd;                               /* absolute; the parameters take precedence; may be STR_NONE */
	struct thread_selection environments;         /* those of the rollout, in the request's arena */
	struct thread_load *load;                     /* the rollout to continue, or NULL; owned */
	const char *refusal;                          /* prefix of the error message */
	thread_answer_fn answer;
};

struct thread_subscriber {
	struct connection *connection;
	bool is_held; /* the subscriber is slow and holds the Codex */
};

/* A root thread and the threads of its subagents, as one unit for thread_unload.c. */
struct thread_family {
	bool is_followed, is_busy;
	uint64_t left_ms; /* when the last subscriber of all these threads left */
};

/* A running or queued turn of a thread: the client's view of a task. */
struct thread_turn {
	/* read-only */
	char id[UUID_TEXT_SIZE];
	bool is_service; /* a compaction or a command of the user, without input for the model */
	bool is_started; /* its task runs; before that, the submission is queued */
	bool is_review;  /* the turn takes no input */
	int64_t started_at_ms;
	const struct app_turn_error *error; /* allocated in `kept`, or NULL */
	/* Used by thread_turn.c: */
	struct thread *thread;
	VEC(struct rpc_request *) interrupts;
	struct arena kept;
	struct arena last_arena;
	struct app_item_agent_message *last_message; /* allocated in last_arena, or NULL */
};

struct thread {
	/* read-only */
	char id[UUID_TEXT_SIZE]; /* "" until the session is configured */
	struct app_server *server;
	struct codex *codex;
	struct config *config;
	struct app_thread_settings *settings; /* settings of the next turn; NULL until the session is configured */
	char *path;                           /* path of the rollout, or NULL */
	char *preview;                        /* the user's first message, or NULL */
	char *name;                           /* name given by the user, or NULL */
	char *forked_from;                    /* id of the thread that it was forked from, or NULL */
	struct app_git_info *git;             /* the repository in which it started, or NULL */
	struct thread_note note;              /* read state and corrections; allocated in note_arena */
	bool has_unsaved_note;                /* the stored note has an older revision of the same read state */
	char *originator, *client_version;    /* of the client that has started the thread */
	int64_t created_at, updated_at;       /* Unix seconds */
	uint64_t left_ms;                     /* when the thread last became idle without subscribers; monotonic */
	int64_t usage_total, usage_last;      /* tokens of the thread and of its last request, as last reported */
	int64_t elicitations;                 /* number of out-of-band elicitations; while not 0 the Codex is held */
	/* for a subagent's thread: the thread whose Codex owns this one; else NULL */
	struct thread *root;
	struct app_session_source *source; /* for a subagent's thread, in origin_arena; else NULL */
	bool is_ephemeral;
	bool has_failed;          /* the last turn has failed */
	char *last_turn_id;       /* id of the turn that ended last, or NULL */
	struct thread_turn *turn; /* the turn that runs or is queued, or NULL */
	struct list items;        /* struct thread_item: started, not completed */
	VEC(struct thread_subscriber) subscribers;
	struct attach_point *attach;  /* where terminals attach, or NULL */
	struct rpc_request *starting; /* the request that waits for the session; NULL after it was configured */
	/* private */
	struct loop_timer *queue_timer; /* waits for the lock of the queue; NULL until the lock was taken once */
	unsigned queue_tries;
	struct list link;   /* a node of the server's threads, in the order of creation */
	struct list bucket; /* a node of the table by id */
	struct arena settings_arena;
	struct arena note_arena;
	struct arena origin_arena;     /* holds source and repository from the rollout */
	struct thread_opening opening; /* valid while `starting` is set */
	struct thread_family family;   /* for a root; valid only inside thread_unload.c */
	bool awaits_farewell;          /* its SessionEnd hooks have not been started yet */
	bool is_dead;                  /* the thread must be destroyed outside the engine's callbacks */
};

/* Creates a thread without a Codex, which is not in threads.h yet. */
struct thread *thread_create(struct app_server *server, const char *originator, const char *client_version);
/* Frees the data. The Codex, the turn, the items and the pending requests must have been ended (thread_unload.h). */
void thread_free(struct thread *thread);

/* ---- views ---- */

/* Fills a record for clients, without turns; it refers to data in the arena or in the thread. */
void thread_view(const struct thread *thread, struct arena *arena, struct app_thread *ret);
/* Returns the environments in which commands with these settings can run, at least one. The second form is that of
 * Ops. */
struct app_thread_environment *thread_environments(const struct app_thread_settings *settings, struct arena *arena,
                                                   size_t *ret_count);
size_t thread_environment_ops(const struct app_thread_settings *settings, struct arena *arena,
                              struct turn_environment **ret);

/* ---- attached terminals (thread_attach.h) ---- */

bool thread_is_attached(const struct thread *thread);
/* A client has answered the request, or it has ended. */
void thread_withdraw_attached(struct thread *thread, struct str request);

/* ---- changes ---- */

/* Replaces the settings by a copy. */
void thread_set_settings(struct thread *thread, const struct app_thread_settings *settings);
/* Sets the last turn that has ended, after which a sample may be taken; STR_NONE: none. */
void thread_set_last_turn(struct thread *thread, struct str id);
/* Replaces the note by a copy, in memory only. */
void thread_set_note(struct thread *thread, const struct thread_note *note);

/* ---- notifications ---- */

bool thread_has_subscriber(const struct thread *thread, const struct connection *connection);
/* Sends the notification to the audience of its row: the subscribers, or all clients. */
void thread_notify(struct thread *thread, enum app_notification_tag tag, const void *params);
/* As thread_notify, for a large notification to subscribers (app_server_notify_later). */
void thread_notify_later(struct thread *thread, enum app_notification_tag tag, const void *params, struct arena *arena,
                         size_t size);
/* Sends turn/failed or turn/cancelled to subscribers that have asked for outcomes. */
void thread_notify_outcome(struct thread *thread, enum app_notification_tag tag, const void *params);
void thread_notify_status(struct thread *thread);
/* Sends the status notLoaded before the thread is destroyed. */
void thread_notify_not_loaded(struct thread *thread);
/* Sends the token usage after a turn to one client or, for NULL, to all subscribers. */
void thread_notify_usage(struct thread *thread, struct str turn_id, const struct token_usage_info *info,
                         struct connection *only);

#endif
