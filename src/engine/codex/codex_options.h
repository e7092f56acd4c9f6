/* codex_options.h — what a front end gives to codex_open. Included by codex.h. */
#ifndef ENGINE_CODEX_OPTIONS_H
#define ENGINE_CODEX_OPTIONS_H

#include <stdbool.h>

#include "protocol/message/message.h"

struct codex;
struct config;
struct services;

/* Called from the loop for each event, in order, once its rollout lines are written. The event is borrowed during the
 * call. The codex must not be closed in it. */
typedef void (*codex_event_fn)(const struct event *event, void *self);

/* A subagent's Codex. */
struct codex_child {
	const char *thread_id, *parent_thread_id;
	const char *nickname; /* or NULL */
	unsigned depth;       /* 1: a child of the root */
};

/* A subagent at any depth got a Codex (its session_configured comes later), or, if about is NULL, is about to lose it.
 * The engine closes it; Ops may be submitted to it, and codex_listen receives its events. */
typedef void (*codex_child_fn)(struct codex *child, const struct codex_child *about, void *self);

struct codex_options {
	struct services *services; /* borrowed; outlives the codex */
	struct config *config;     /* a reference is taken */
	enum session_source source;
	const char *cwd; /* default folder to work in; absolute */
	/* The program that drives this Codex, as providers and the rollout get it; NULL: the services' originator. */
	const char *client, *client_version;
	bool ephemeral;           /* no rollout; one that is resumed is only read */
	bool mutes_output;        /* no exec_command_output_delta: on_event would discard them */
	bool begins_once_allowed; /* exec_command_begin of a command that needs approval follows the answer, and a
	                           * denied command has neither begin nor end; else begin precedes the question */
	bool is_interactive;      /* a user can answer questions */
	bool is_unattended;       /* no user can, and the model gets this answer at once */
	bool serves_tools;        /* the client carries out calls of the tools that it provides */
	bool steers;       /* input joins a running Task, unless the configuration or the submission says replace */
	bool runs_unasked; /* input without items starts a Turn; else its Task ends at once */
	codex_event_fn on_event;
	codex_child_fn on_child; /* NULL: questions of subagents become events of this Codex */
	void *self;              /* of both */
};

#endif
