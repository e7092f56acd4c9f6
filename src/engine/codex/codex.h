/* codex.h — the one door to the engine: submit Ops, get Events (seeds 000 and 004).
 *
 * A Codex starts with no Session; Op configure_session makes one, and any other Op before it is
 * answered by an error event. One Codex holds one Session with at most one Task.
 * Loop thread only. Nothing here blocks. */
#ifndef ENGINE_CODEX_H
#define ENGINE_CODEX_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/message/event.h"
#include "protocol/message/submission.h"

struct codex;
struct config;
struct error;
struct loop;
struct services;

/* What all Codexes of a process share: connections to models, the configuration's owner of last resort. */
struct services *services_create(struct loop *loop, const char *originator);
/* Every codex must have been closed. */
void services_destroy(struct services *services);
/* Starts loading what the first request to a model will need, beside other work. Optional. */
void services_preload(struct services *services);
/* Folders that hold skills, beside those that each Codex's configuration names. They replace the ones set before, and
 * every Codex uses them from its next look at its skills on, subagents too. Copied. */
void services_set_skill_roots(struct services *services, const struct str *roots, size_t count);
/* Borrowed until they are set again. */
const struct str *services_skill_roots(const struct services *services, size_t *ret_count);

/* Runs from the loop, in order, once an event is safe to show (its rollout lines are written).
 * The event is borrowed during the call, and the codex must not be closed in it. */
typedef void (*codex_event_fn)(const struct event *event, void *self);

/* A subagent's Codex, as it comes to be. */
struct codex_child {
	const char *thread_id, *parent_thread_id;
	const char *nickname; /* or NULL */
	unsigned depth;       /* 1: the root's own */
};

struct codex_options {
	struct services *services; /* borrowed; outlives the codex */
	struct config *config;     /* a reference is taken */
	enum session_source source;
	const char *cwd; /* default folder to work in; absolute */
	/* The program that drives this Codex, told to providers and in the rollout; NULL: the services' originator. */
	const char *client, *client_version;
	bool ephemeral;           /* no rollout; one that is resumed is only read */
	bool mutes_output;        /* no exec_command_output_delta: on_event would throw them away */
	bool begins_once_allowed; /* exec_command_begin of a command that is asked about follows the answer, and one
	                           * that is denied has neither begin nor end; else it precedes the question */
	bool is_interactive;      /* somebody can answer questions */
	bool is_unattended;       /* nobody can: the model is told so at once */
	bool serves_tools;        /* calls of tools that its client provides are carried out */
	bool steers;       /* input joins a running Task, unless the configuration or the submission says replace */
	bool runs_unasked; /* input without a word makes the model go on; else it ends at once (protocol-v1 2.2) */
	codex_event_fn on_event;
	/* A subagent somewhere below has a Codex now (its session_configured comes later), or (about is NULL) that is
	 * about to be closed. It is the engine's to close; Ops may be submitted to it, and codex_listen hears it. NULL:
	 * nobody wants to know, and what subagents ask the user comes as an event of this Codex. */
	void (*on_child)(struct codex *child, const struct codex_child *about, void *self);
	void *self;
};

struct codex *codex_open(const struct codex_options *options);
/* Whom the events of a subagent's Codex are told; NULL: nobody. */
void codex_listen(struct codex *child, codex_event_fn on_event, void *self);
/* Copies id and op. ERR_limit when the submission queue is full. */
int codex_submit_op(struct codex *codex, struct str id, const struct op *op, struct error *err);
/* Answers a question that an event of this Codex asked; `asks` names the event. Everything submitted before is carried
 * out first, then the answer at once: it does not pass the submission queue and is never refused for lack of room.
 * id: of the call, or, for EV_request_user_input, of its turn. answer: a struct review_decision for the two approvals,
 * user_input_answers for EV_request_user_input, dynamic_tool_answer for EV_dynamic_tool_call_request.
 * False, and the answer has no effect, if no such question is open; events that are on their way say why. */
bool codex_answer(struct codex *codex, enum event_tag asks, struct str id, const void *answer);

/* What the model is told of a mode where the client has no words of its own. */
struct str codex_mode_text(enum mode_kind mode);

/* What a Codex is about; for a front end whose client is gone. */
enum codex_state {
	CODEX_QUEUED,  /* submissions or events wait for the loop's next round */
	CODEX_IDLE,    /* nothing happens until something is submitted */
	CODEX_RUNNING, /* a Task runs, or a session is being read that is resumed */
	CODEX_BLOCKED, /* a Task waits for an answer of the user, or of a tool that the client provides */
};
enum codex_state codex_get_state(const struct codex *codex);
/* Adds items to the history, as the Responses API has them, without a Turn: each one JSON object in one line. What was
 * submitted before is carried out first. While a Task runs they wait for its next Turn, and for its end at the latest.
 * ERR_limit, and none is added, when too much waits already. There must be a Session. */
int codex_add_items(struct codex *codex, const struct str *items, size_t count, struct error *err);

/* Makes the file of the session now, although nothing was said yet: what is noted of it elsewhere (its name) needs a
 * file to be found by. Nothing happens without a session or in one that is not recorded. */
int codex_record(struct codex *codex, struct error *err);

/* The session's file is being removed on purpose (or is not, after all): it is not written anew when it is gone, as it
 * is when somebody else removes it. */
void codex_let_record_go(struct codex *codex, bool is_let_go);
/* Path of the session's current rollout, or NULL if it is not recorded. Borrowed. The path changes if the file is
 * replaced by another, which a warning reports. */
const char *codex_record_path(const struct codex *codex);

/* One more answer to the history as it is now and a prompt behind it. Turns go on beside it; nothing of it is recorded,
 * counted or told as an event, and no tool runs. */
struct codex_sample;
struct codex_sample_result {
	struct str response_id;
	struct str text;                 /* absent: the model wanted a tool, or said nothing */
	const struct token_usage *usage; /* NULL: the provider did not say */
};
/* Once, last, from the loop: the result or why there is none, both borrowed. The sample is gone when it returns. */
typedef void (*codex_sample_fn)(const struct codex_sample_result *result, const struct error *err, void *self);
struct codex_sample_wish {
	struct str prompt;            /* copied */
	enum reasoning_effort effort; /* unset: that of the next turn */
	codex_sample_fn on_done;
	void *self;
};
/* NULL and err while a Task runs (ERR_busy), and when too many are under way (ERR_limit). If the Codex is closed, they
 * end with ERR_cancelled. */
struct codex_sample *codex_sample_create(struct codex *codex, const struct codex_sample_wish *wish, struct error *err);
void codex_sample_destroy(struct codex_sample *sample); /* before on_done alone; NULL is fine */
/* Ends a command that goes on behind the Tasks, by the model's id of it, or (0) all of them; each is told as ended.
 * False if there was none. */
bool codex_end_command(struct codex *codex, int64_t process_id);
/* Back-pressure, for a front end whose client does not take its events as fast as they come. Between hold and release
 * the Codex makes none in numbers: the model's stream, the output of commands and calls not yet started stand still.
 * Submissions are carried out as ever (approvals, interrupt, shutdown get through), and what is on its way is still
 * told: one burst of the stream and the answers to submissions. A client that submits and never reads must therefore
 * be stopped at its submissions as well. No time limit runs out because of a hold. Nothing is lost.
 *
 * Holds nest, so that each of several watchers can have its own: hold when transport_send says false, release in
 * on_drain, and release when that client is gone. One watcher's slowness must cost the others little: a front end
 * that has several for one Codex holds for each at most LIMIT_WATCHER_HOLD_MS at a time, then releases and lets that
 * one's queue grow to LIMIT_STREAM_QUEUE_HARD, where its connection breaks. A front end with several Codexes for one
 * client holds them all. Both may be called inside on_event. */
void codex_hold(struct codex *codex);
void codex_release(struct codex *codex);
/* Ends the running Task without further events and frees everything. Children are killed. NULL is fine. */
void codex_close(struct codex *codex);

#endif
