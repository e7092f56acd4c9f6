/* thread.h — v2's Thread: the outside view of a Session. One Codex, those who watch it, and what it is doing.
 *
 * Owns: its Codex, its open items, its questions. Borrows: the server, the connections that watch. Loop thread only.
 * What a thread does not do yet costs nothing: an idle one is its Codex and a few hundred bytes.
 * Source: app-server-wire 3 to 6, 17. */
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

/* How a thread comes to be. */
struct thread_opening {
	const struct app_thread_start_params *wishes; /* of its client; in the request's arena */
	struct op_configure_session session;          /* what the wishes and the configuration do not say */
	struct str cwd;                               /* where it works unless the wishes say; absolute, or absent */
	struct thread_load *load;                     /* the rollout it goes on from, or NULL; owned */
	const char *refusal;                          /* how the news of a failure begins */
	/* Its Session is there: answers. */
	void (*answer)(struct thread *thread, struct rpc_request *request);
};

struct thread_watcher {
	struct connection *connection;
	bool is_held; /* the Codex stands still for its sake */
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
	char *preview;                        /* what the user said first, or NULL */
	char *name;                           /* or NULL */
	char *forked_from;                    /* id of the thread whose history it began with, or NULL */
	struct app_git_info *git;             /* the repository it began in, or NULL */
	struct thread_note note;              /* what is noted of it, in note_arena */
	char *originator, *client_version;    /* of the client that started it */
	int64_t created_at, updated_at;       /* Unix seconds */
	uint64_t left_ms;                     /* since when nobody watches it and nothing happens; monotonic */
	int64_t told_total, told_last;        /* tokens: of the thread, of its last request, as clients know them */
	int64_t elicitations; /* questions that clients ask beside it; while there are any, it stands still */
	struct thread *root; /* of a subagent's: the thread whose Codex owns its own; else NULL */
	struct app_session_source *source; /* of a subagent's, in origin_arena; else NULL */
	bool is_ephemeral;
	bool has_failed;           /* the last turn did */
	char *last_turn_id;        /* the one that ended last, or NULL */
	struct thread_turn *turn;  /* the one that runs, or NULL */
	struct thread_items items; /* begun and not whole */
	VEC(struct thread_watcher) watchers;
	/* private */
	struct list link;   /* in the server's threads, oldest first */
	struct list bucket; /* in its table, by id */
	struct arena settings_arena;
	struct arena note_arena;
	struct arena origin_arena; /* what its rollout says of its beginning */
	struct rpc_request *starting; /* waits for its Session */
	struct thread_opening opening; /* while it does */
	struct list asks;             /* questions that are open (thread_ask.c) */
	struct thread_family family;  /* of a root; valid while thread_idle.c looks */
	bool is_dead;                 /* to be destroyed outside the engine's callbacks */
};

/* ---- what it is ---- */

/* Makes a Session for it; the request is answered when that is there. The opening's load is taken over, also where it
 * fails. */
struct thread *thread_open(struct rpc_request *request, const struct thread_opening *opening, struct error *err);
void thread_destroy(struct thread *thread); /* NULL is fine */

/* A subagent's: known from the start, and destroyed with its Codex, which is not its own. For codex_options.on_child;
 * self: the root's thread. */
void thread_on_child(struct codex *child, const struct codex_child *about, void *self);
/* How it is now. flags has room for app_thread_active_flag_count; status points to it and to active. */
struct thread_status {
	struct app_thread_status status;
	struct app_thread_status_active active;
	enum app_thread_active_flag flags[app_thread_active_flag_count];
};
void thread_get_status(const struct thread *thread, struct thread_status *ret);
/* Fills a record for the wire, without turns; what it points to lives in the arena or in the thread. */
void thread_view(const struct thread *thread, struct arena *arena, struct app_thread *ret);
/* Where commands of a thread with these settings run: one. */
struct app_thread_environment *thread_environment(const struct app_thread_settings *settings, struct arena *arena);
/* Replaces the settings by a copy. */
void thread_set_settings(struct thread *thread, const struct app_thread_settings *settings);
/* The turn that a sample can be asked for behind; absent: none. */
void thread_set_last_turn(struct thread *thread, struct str id);
/* Likewise the note; not on disk. */
void thread_set_note(struct thread *thread, const struct thread_note *note);

/* ---- who watches ---- */

bool thread_is_watched(const struct thread *thread, const struct connection *connection);
void thread_watch(struct thread *thread, struct connection *connection);
/* False if it did not watch. */
bool thread_unwatch(struct thread *thread, const struct connection *connection);
/* One of them has fallen behind, or caught up: the Codex stands still while it must. */
void thread_review_holds(struct thread *thread);

/* Tells whom the row of the notification names. */
void thread_notify(struct thread *thread, enum app_notification_tag tag, const void *params);
/* turn/failed and turn/cancelled, to those of them that asked for outcomes (seed 002). */
void thread_notify_outcome(struct thread *thread, enum app_notification_tag tag, const void *params);
void thread_notify_status(struct thread *thread);

#endif
