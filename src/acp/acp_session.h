/* acp_session.h — an open session: its Codex, its settings, the prompts that it has not answered and the tool calls
 * that are in progress.
 *
 * Owned by the server's list; ended by acp_session_destroy, never inside a callback of its Codex. Loop thread only. */
#ifndef ACP_ACP_SESSION_H
#define ACP_ACP_SESSION_H

#include "acp/acp_mode.h"
#include "acp/acp_wire.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "loop/loop.h"

struct acp_reading;
struct acp_session;
struct codex;
struct config;
struct event;
struct rollout_index;
struct rollout_listings;
struct services;

/* The capabilities that the client announced in `initialize`. */
struct acp_client {
	bool reads_files, writes_files;
	bool fills_terminals; /* _meta.terminal_output: a terminal shows what the agent sends */
	bool has_forms;       /* elicitation.form */
	bool opens_urls;      /* elicitation.url */
};

struct acp_server {
	struct loop *loop;
	struct services *services;
	struct config *config; /* of the folder that the program was started in */
	const struct str *overrides;
	size_t override_count;
	struct acp_wire wire;
	struct acp_client client;
	char *client_name, *client_version; /* NULL: unknown */
	struct list sessions;
	size_t session_count;
	struct list jobs;                  /* struct acp_job */
	struct list logouts;               /* of acp_account.c */
	struct rollout_listings *listings; /* NULL until the first session/list */
	struct rollout_index *index;
	struct loop_deferred sweep; /* destroys sessions that could not be opened */
	struct loop_deferred ended;
	void (*on_end)(void *self);
	void *self;
};

enum { ACP_PROMPT_ID_SIZE = 32 };

/* A prompt without a response. */
struct acp_prompt {
	struct list link;
	struct acp_request *request;
	char id[ACP_PROMPT_ID_SIZE]; /* of its submission */
	bool is_aside;               /* no task answers it: it may end at any time */
	bool is_in;                  /* the running task has read it */
	bool is_goal;                /* it waits for the end of a goal */
	bool is_cancelled;           /* by session/cancel */
	struct token_usage before;   /* the session's tokens when it arrived */
};

/* A tool call that was sent and has not ended. */
struct acp_tool {
	struct list link;
	char *id;
	bool outlives_task; /* a command, which may continue in the background */
	struct buf text;    /* bytes of an incomplete character of its output */
};

struct acp_session {
	struct list link;
	struct acp_server *server;
	char id[UUID_TEXT_SIZE]; /* "" until the engine has configured it */
	struct codex *codex;
	struct config *config;
	char *cwd;
	VEC(struct str) roots; /* additional writable folders, owned */
	struct acp_choices choices;
	struct token_usage usage;         /* so far */
	struct acp_context_usage context; /* after the last response; size 0: unknown */
	char *title;                      /* NULL before the first prompt */
	char *skills;                     /* the last ev_list_skills as JSON, or NULL */
	struct list prompts;
	unsigned prompt_count;
	uint64_t last_prompt;
	bool is_running;     /* a task runs */
	bool is_interrupted; /* and an interrupt was submitted */
	char *failure;       /* message of the error of the running task, or NULL */
	char *failure_info;  /* its CodexErrorInfo */
	struct list tools;
	VEC(char *) streamed;        /* ids of items whose text was sent in pieces */
	struct acp_reading *reading; /* files for an event, or NULL */
	struct list late;            /* struct event, which came while files were read */
	void (*on_event)(struct acp_session *session, const struct event *event);
	bool is_dead;
	/* while it is being opened: */
	struct acp_request *opening; /* NULL once it was answered */
	bool is_replayed;            /* the history is sent before the response */
	struct buf replay;
	char *copy; /* the file of a fork that is not open yet; it is removed with the session */
};

/* Returns NULL if no open session has this id. */
struct acp_session *acp_session_find(const struct acp_server *server, struct str id);
struct acp_session *acp_session_create(struct acp_server *server);
/* Ends the session that this request opens, if the engine has not configured it yet. */
void acp_session_abandon(struct acp_server *server, const struct acp_request *opening);
/* Answers its prompts with `cancelled`, ends its Codex and frees it. */
void acp_session_destroy(struct acp_session *session);

/* body: the record of the tag. */
void acp_session_update(struct acp_session *session, enum acp_update_tag tag, const void *body);
/* Sends text as a message of the agent. */
void acp_session_say(struct acp_session *session, struct str text, struct str message_id);
/* Sends the title; if the session has changed, also the time. */
void acp_session_send_title(struct acp_session *session, bool is_changed);
void acp_session_set_title(struct acp_session *session, struct str title);
/* Returns the first words of a prompt, a slice of it; STR_NONE for a blank one. */
struct str acp_title_of(struct str prompt);
/* Fills the modes and options of a response. */
void acp_session_view(const struct acp_session *session, struct arena *arena, struct acp_session_result *ret);

/* ---- prompts ---- */

struct acp_prompt *acp_prompt_create(struct acp_session *session, struct acp_request *request);
/* Returns NULL if no prompt without a response has this id. */
struct acp_prompt *acp_prompt_find(struct acp_session *session, struct str id);
/* Sends the response. */
void acp_prompt_end(struct acp_session *session, struct acp_prompt *prompt, enum acp_stop_reason reason);
void acp_prompt_fail(struct acp_session *session, struct acp_prompt *prompt, enum acp_error_code code,
                     struct str message);
/* True if an active goal starts the session's next turn. */
bool acp_session_has_goal(const struct acp_session *session);
/* Submits an interrupt, unless one is pending; all prompts end with `cancelled`. An active goal is paused. */
void acp_session_cancel(struct acp_session *session);

/* ---- tool calls ---- */

struct acp_tool *acp_tool_find(struct acp_session *session, struct str id);
struct acp_tool *acp_tool_add(struct acp_session *session, struct str id);
void acp_tool_remove(struct acp_tool *tool); /* NULL is fine */

#endif
