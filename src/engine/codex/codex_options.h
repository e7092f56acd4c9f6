/* codex_options.h — the options of codex_open. Included by codex.h. */
#ifndef ENGINE_CODEX_OPTIONS_H
#define ENGINE_CODEX_OPTIONS_H

#include <stdbool.h>

#include "engine/session/unfinished.h"
#include "protocol/message/message.h"

struct codex;
struct config;
struct rollout_sink;
struct services;

/* Called on the loop for each event, in order, after its rollout lines were written. The event is borrowed during
 * the call, in which the Codex must not be closed. */
typedef void (*codex_event_fn)(const struct event *event, void *self);

/* Describes a subagent's Codex. */
struct codex_child {
	const char *thread_id, *parent_thread_id;
	const char *nickname; /* may be NULL */
	const char *role;     /* may be NULL */
	unsigned depth;       /* 1 for a child of the root */
};

/* Called when a subagent at any depth gets a Codex (its session_configured follows later), and with NULL as about
 * when it is going to lose it. The engine closes it; Ops may be submitted to it, and codex_listen receives its
 * events. */
typedef void (*codex_child_fn)(struct codex *child, const struct codex_child *about, void *self);

/* Called on the loop after a submission was refused with ERR_limit: the submission queue has room again. */
typedef void (*codex_room_fn)(void *self);

struct codex_options {
	struct services *services; /* borrowed; must outlive the Codex */
	struct config *config;     /* the Codex takes a reference */
	enum session_source source;
	const char *cwd; /* default working folder, absolute */
	/* Name and version of the program that drives this Codex, for providers and the rollout. NULL: the services'
	 * originator. */
	const char *client, *client_version;
	const struct rollout_sink *sink; /* where rollouts are stored; NULL: in files of CODEX_HOME */
	/* The task that the first configure_session, which resumes a rollout, continues: same id, no task_started.
	 * NULL: none, and the calls without an output count as aborted. Borrowed until that Op was carried out. */
	const struct unfinished *unfinished;
	bool ephemeral;    /* write no rollout; one that is resumed is only read */
	bool mutes_output; /* emit no exec_command_output_delta: on_event would discard them */
	/* If a command needs approval, emit exec_command_begin only once it is approved; a denied one then emits
	 * neither begin nor end. If false, begin comes before the request. */
	bool begins_once_allowed;
	/* A background_event reports each command and patch that was refused before it began: for terminals, also those
	 * that are attached to `codex exec` or the app-server. */
	bool reports_refusals;
	bool is_interactive; /* a user can answer requests */
	bool reads_record;   /* the front end reads the rollout itself: a resumed session has no initial_messages */
	bool is_unattended;  /* no user can answer, so the model gets this answer at once */
	bool is_unhurried;   /* a new session opens no connection to the provider before codex_expect_request */
	bool is_cleared;     /* the session follows one that the user has cleared; for hooks */
	bool serves_tools;   /* the client carries out calls of the tools that it provides */
	/* input joins a running task, unless the configuration or the submission requests a replacement */
	bool steers;
	/* Input without items starts a turn; otherwise its task ends at once. An active goal starts turns. */
	bool runs_unasked;
	codex_event_fn on_event;
	codex_child_fn on_child; /* NULL: requests of subagents become events of this Codex */
	bool asks_for_children;  /* they do so with on_child, too, and subagents are held with this Codex */
	codex_room_fn on_room;   /* NULL: a submission that was refused is not submitted again */
	void *self;              /* passed to on_event, on_child and on_room */
};

#endif
