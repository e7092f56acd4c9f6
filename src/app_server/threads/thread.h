/* thread.h — a thread of the wire: one Codex, its watchers, its current turn and open items.
 *
 * Owns: its Codex, its open items, its server requests. Borrows: the server, the watching connections. Loop thread
 * only. An idle thread costs its Codex and a few hundred bytes. */
#ifndef APP_SERVER_THREAD_H
#define APP_SERVER_THREAD_H

#include "app_server/threads/thread_items.h"
#include "app_server/threads/thread_note.h"
#include "base/arena.h"
#include "base/list.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "protocol/message/app.h"

struct app_server;
struct codex;
struct codex_child;
struct config;
struct connection;
struct rpc_request;
struct thread_load;
struct thread_turn;

/* How a thread is opened. */
struct thread_opening {
	const struct app_thread_start_params *wishes; /* requested by the client; in the request's arena */
	struct op_configure_session session;          /* settings besides the request and the configuration */
	struct str cwd;                               /* absolute; the request takes precedence; may be absent */
	struct thread_load *load;                     /* the rollout to continue, or NULL; owned */
	const char *refusal;                          /* prefix of the error message */
	/* Answers the request once the Session is configured. */
	void (*answer)(struct thread *thread, struct rpc_request *request);
};

struct thread_watcher {
	struct connection *connection;
	bool is_held; /* it holds the Codex because it is slow */
};

/* A thread and those of its subagents, as thread_idle.c sees them. */
struct thread_family {
	bool is_followed, is_busy;
	uint64_t left_ms; /* the latest of them */
};

struct thread {
	/* read-only */
	char id[UUID_TEXT_SIZE]; /* "" until its Session is configured */
	struct app_server *server;
	struct codex *codex;
	struct config *config;
	struct app_thread_settings *settings; /* of the next turn; NULL until configured */
	char *path;                           /* its rollout, or NULL */
	char *preview;                        /* the user's first message, or NULL */
	char *name;                           /* or NULL */
	char *forked_from;                    /* id of the thread whose history it began with, or NULL */
	struct app_git_info *git;             /* the repository it began in, or NULL */
	struct thread_note note;              /* read state and corrections, in note_arena */
	char *originator, *client_version;    /* of the client that started it */
	int64_t created_at, updated_at;       /* Unix seconds */
	uint64_t left_ms;                     /* when it last became idle without watchers; monotonic */
	int64_t told_total, told_last;        /* tokens last sent to clients: of the thread, of its last request */
	int64_t elicitations;                 /* pending elicitations of clients */
	struct thread *root;                  /* of a subagent's: the thread whose Codex owns its own; else NULL */
	struct app_session_source *source;    /* of a subagent's, in origin_arena; else NULL */
	bool is_ephemeral;
	bool has_failed;           /* the last turn did */
	char *last_turn_id;        /* the one that ended last, or NULL */
	struct thread_turn *turn;  /* the one that runs, or NULL */
	struct thread_items items; /* started, not completed */
	VEC(struct thread_watcher) watchers;
	/* private */
	struct list link;   /* in the server's threads, oldest first */
	struct list bucket; /* in the table by id */
	struct arena settings_arena;
	struct arena note_arena;
	struct arena origin_arena;     /* source and repository from the rollout */
	struct rpc_request *starting;  /* waits for its Session */
	struct thread_opening opening; /* while it waits */
	struct thread_family family;   /* of a root; valid during a review in thread_idle.c */
	bool is_dead;                  /* to be destroyed outside the engine's callbacks */
};

/* ---- what it is ---- */

/* Creates the thread and its Session; opening->answer answers the request once the Session is configured. Takes
 * opening->load, also on error. */
struct thread *thread_open(struct rpc_request *request, const struct thread_opening *opening, struct error *err);
void thread_destroy(struct thread *thread); /* NULL is fine */

/* Creates the thread of a subagent, which is destroyed with its Codex and does not own it. For codex_options.on_child;
 * self: the root's thread. */
void thread_on_child(struct codex *child, const struct codex_child *about, void *self);
/* The current status. flags has room for app_thread_active_flag_count; status points to flags and active. */
struct thread_status {
	struct app_thread_status status;
	struct app_thread_status_active active;
	enum app_thread_active_flag flags[app_thread_active_flag_count];
};
void thread_get_status(const struct thread *thread, struct thread_status *ret);
/* Fills a record for the wire, without turns; what it points to lives in the arena or in the thread. */
void thread_view(const struct thread *thread, struct arena *arena, struct app_thread *ret);
/* The one environment in which commands with these settings run. */
struct app_thread_environment *thread_environment(const struct app_thread_settings *settings, struct arena *arena);
/* Replaces the settings by a copy. */
void thread_set_settings(struct thread *thread, const struct app_thread_settings *settings);
/* The last turn that has ended, after which a sample may be taken; absent: none. */
void thread_set_last_turn(struct thread *thread, struct str id);
/* Replaces the note by a copy, in memory only. */
void thread_set_note(struct thread *thread, const struct thread_note *note);

/* ---- who watches ---- */

bool thread_is_watched(const struct thread *thread, const struct connection *connection);
void thread_watch(struct thread *thread, struct connection *connection);
/* False if it did not watch. */
bool thread_unwatch(struct thread *thread, const struct connection *connection);
/* Holds or releases the Codex after a watcher became slow or caught up. */
void thread_review_holds(struct thread *thread);

/* Sends the notification to the audience of its row: the watchers, or all clients. */
void thread_notify(struct thread *thread, enum app_notification_tag tag, const void *params);
/* turn/failed and turn/cancelled: only to watchers that have asked for outcomes. */
void thread_notify_outcome(struct thread *thread, enum app_notification_tag tag, const void *params);
void thread_notify_status(struct thread *thread);

#endif
