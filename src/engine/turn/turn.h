/* turn.h — one turn: a request to the model, its stream and its tool calls. Private to engine/.
 *
 * A broken stream is retried within the Turn, up to the provider's stream_max_retries. Items are recorded as soon as
 * the model has finished them; tool calls start when the response is complete. Owns: the model call, the tool calls
 * of the response, the item being streamed. Loop thread only. */
#ifndef ENGINE_TURN_H
#define ENGINE_TURN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "base/list.h"
#include "loop/loop.h"
#include "model/model_error.h"
#include "model/model_stream.h"

struct conversation;
struct hook_batch;
struct json;
struct model_call;
struct session;
struct settings;
struct tool_call;
struct turn_item;
struct turn_reader;
struct tool_call_words;

/* The deltas of an item that were emitted, up to LIMIT_STREAMED_TEXT bytes, so that a retry of a broken stream does not
 * emit them again. An all-zero struct is empty. */
struct turn_shown {
	/* private */
	struct buf text;
	size_t repeated;   /* bytes of text that the retry has sent again */
	bool is_repeating; /* the retry has not differed from text yet */
	bool is_mixed;     /* text combines attempts that differ */
};

void turn_shown_finish(struct turn_shown *shown);
/* Returns the part of a delta that was not emitted yet: everything from the first difference on. Borrowed from text. */
struct str turn_shown_add(struct turn_shown *shown, struct str text);

enum { TURN_PAUSES = 16 }; /* responses of one task that may ask to be continued */

/* Callbacks to the owner of a turn, which may destroy it in both. */
struct turn_events {
	/* The response is complete and recorded. needs_turn: the model has not read the outputs of its calls. */
	void (*on_end)(void *self, bool needs_turn);
	/* No retry is left; `failure` of the turn has the error. */
	void (*on_failed)(void *self);
};

/* The Session's inbox of messages from other agents. */
struct inbox_ops {
	/* Moves the messages of the inbox to the end of the history; with interrupts_only, only the interrupts.
	 * False if there were no messages. */
	bool (*read)(void *self, bool interrupts_only);
	/* As read, before the outputs of a response's calls, if subagent_inbox_inject_before_tools is set. */
	void (*read_early)(void *self);
	/* Records in the root's rollout that the messages were read; the history contains them. A process that dies
	 * before that reads them again when it resumes. */
	void (*record_taken)(void *self);
};

/* The plan that a task in plan mode proposes; a task has at most one. */
enum turn_plan { TURN_PLAN_none, TURN_PLAN_open, TURN_PLAN_done };

/* The model's last message, in the history. */
struct turn_last_message {
	bool exists;
	size_t index;   /* of its item */
	size_t at, len; /* where its text is in the item, if the text is large and written there as it is; else 0 */
};

/* The parameters of a turn, and the state that the turns of one task share. */
struct turn_env {
	/* Set by the owner: */
	struct session *session;
	struct conversation *conversation;
	struct str id; /* turn_id of the events */
	struct settings *settings;
	struct str output_schema; /* JSON, or STR_NONE */
	struct arena *arena;      /* holds the strings below */
	const struct turn_events *events;
	void *self; /* passed to the functions of events */
	const struct inbox_ops *inbox;
	void *inbox_self;
	/* Kept by the turns: */
	struct str turn_state; /* from the first response; STR_NONE before */
	struct turn_last_message last_message;
	bool is_rerouted; /* model_reroute was emitted */
	unsigned pauses;  /* responses that asked to be continued */
	enum turn_plan plan;
	struct str plan_id; /* STR_NONE: no plan was proposed yet */
	struct turn_shown plan_shown;
};

enum turn_item_kind { TURN_ITEM_none, TURN_ITEM_message, TURN_ITEM_reasoning, TURN_ITEM_web_search };

/* The item whose deltas are arriving. */
struct turn_open_item {
	enum turn_item_kind kind;
	bool is_emitted; /* item_started was emitted */
	char *id;        /* its id in events */
	char *wire_id;   /* its id in the stream of this attempt, or NULL */
	struct turn_shown shown;
	char *phase;                /* for a message: as the model sent it, or NULL */
	struct turn_reader *reader; /* for a message in plan mode; NULL before its first delta */
};

/* The request of a Turn, and the handler of its stream. */
struct turn_question {
	response_event_fn on_event; /* self is the turn */
	void *self;                 /* passed to the asker's functions */
	/* Appended to the history in the request, which then has no tools; JSON, borrowed while the turn lives.
	 * STR_NONE: the next step of the conversation, with all tools. */
	struct str item;
	size_t first_item; /* index of the first item of the history to send */
};

/* The hooks of a Turn: before and after its request, and before and after each of its tool calls. */
struct turn_hooks {
	struct hook_batch *request; /* the hooks that the request or its end waits for, or NULL */
	struct list calls;          /* struct call_hook: those that calls wait for */
	struct buf contexts;        /* developer messages to add after the outputs: JSON, one per line */
	bool has_asked, has_ended;  /* the hooks of the request and of its end have run */
	bool is_stopped;            /* a hook has stopped the task */
};

/* The patch that the model is writing, with the feature apply_patch_streaming_events. */
struct turn_patch {
	char *call_id; /* NULL: none */
	struct buf text;
	unsigned looks;
	uint64_t looked_ms;
	size_t shown; /* bytes of the text that were reported */
};

struct turn {
	struct turn_env *env;
	struct turn_question question;
	struct model_call *call;
	struct str *segments; /* lent to the model call */
	struct str *fresh;    /* the same: what the server of a WebSocket lacks */
	struct loop_timer *retry;
	struct loop_deferred next; /* the step after the stream, which must not run inside its callbacks */
	unsigned retries;
	bool is_complete; /* response.completed was received */
	bool is_paused;   /* the response asks for another request */
	bool is_chained;  /* the request named a previous response */
	bool has_limits;  /* the response head had the account's rate limits */
	struct turn_open_item open;
	struct turn_open_item kept[TURN_ITEM_web_search]; /* indexed by kind: items that a broken attempt left open */
	struct turn_patch patch;
	struct str
		late; /* the text of a large message that was not emitted yet; STR_NONE between events of the model */
	char *response_id;
	VEC(struct tool_call *) tools; /* the calls of the response, in its order */
	size_t started;                /* number of calls that were started */
	size_t running;                /* started calls that have not finished */
	bool runs_tools;               /* the response is complete, its calls run */
	bool is_exclusive;             /* a call that must run alone is running */
	char *failure;                 /* text and CodexErrorInfo of the final error */
	char *failure_info;
	enum model_error_kind failure_kind;
	struct turn_hooks hooks;
	void (*after_hooks)(void *turn); /* the step after the hooks of the request */
};

/* Requests the next step of the conversation with the whole history and all tools. */
struct turn *turn_start(struct turn_env *env);
/* Sends another request; data that the question refers to is borrowed while the turn lives. */
struct turn *turn_ask(struct turn_env *env, const struct turn_question *question);
/* Ends the model call and all tool calls without events. NULL is fine. */
void turn_destroy(struct turn *turn);
/* Handles an interrupt: ends all work and records an output for each unfinished call. */
void turn_abort(struct turn *turn);

/* Backpressure: pauses the model's stream and starts no further call until turn_release. */
void turn_hold(struct turn *turn);
void turn_release(struct turn *turn);

/* ---- turn_patch.c: patch_apply_updated ---- */

void turn_patch_added(struct turn *turn, const struct json *item);
void turn_patch_delta(struct turn *turn, struct str text);
/* To be called before the call of the patch begins. */
void turn_patch_done(struct turn *turn, const struct json *item);
void turn_patch_drop(struct turn *turn);

/* ---- turn_stream.c: the items of the stream ---- */

void turn_on_event(const struct response_event *event, void *self);
/* Opens the item whose deltas follow; turn_emit_open_item emits its item_started once. */
void turn_open_item(struct turn *turn, enum turn_item_kind kind, struct str id);
void turn_emit_open_item(struct turn *turn);
/* Emits item_completed, after an item_started with the whole item if none was emitted. */
void turn_emit_whole_item(struct turn *turn, struct turn_item *item);
void turn_close_item(struct turn *turn);
/* To be called when the stream broke: the retry continues the open item if its item_started was emitted. */
void turn_keep_item(struct turn *turn);
void turn_drop_kept(struct turn *turn);
/* Completes the items that clients know and that no attempt finished, with the text that clients have (up to
 * LIMIT_STREAMED_TEXT). The message enters the history if the response is complete and has no calls, and if its text is
 * whole and from one attempt. */
void turn_complete_unfinished(struct turn *turn);
/* True if a delta belongs to the open item; a delta of an item that was not added belongs to none. */
bool turn_is_open(const struct turn *turn, enum turn_item_kind kind, struct str id);
/* Cuts the part of a delta that a broken attempt has already emitted. False if nothing is left. */
bool turn_cut_shown(struct turn *turn, struct str *text);
/* ---- turn_message.c: messages to the user, and plans in them ---- */

void turn_message_added(struct turn *turn, const struct json *json);
void turn_message_delta(struct turn *turn, struct str id, struct str text);
/* Emits the finished message. Of a large one, sets `late` and records the event: the caller adds the item to the
 * history and calls turn_message_late, so that the event shares the history's text. */
void turn_message_done(struct turn *turn, const struct json *json);
/* Emits the message of which `late` is the text; no-op if it is not set. at: where the item, which is the last one of
 * the history, has the text. */
void turn_message_late(struct turn *turn, size_t at);
void turn_message_cut_short(struct turn *turn);       /* completes the open message with its text so far */
void turn_reader_destroy(struct turn_reader *reader); /* NULL is fine */
/* Completes the task's plan with this text; no-op if it was completed. */
void turn_close_plan(struct turn_env *env, struct str text);

/* ---- turn_hooks.c: without hooks of an event each step continues at once ---- */

void turn_hooks_init(struct turn_hooks *hooks);
void turn_hooks_finish(struct turn_hooks *hooks);
/* Cancels the hooks of calls, which are about to be destroyed. */
void turn_hooks_drop_calls(struct turn *turn);

/* True if hooks run now, and `then` will be called; false to continue at once. */
bool turn_hooks_before_request(struct turn *turn, void (*then)(void *turn));
bool turn_hooks_after_request(struct turn *turn, void (*then)(void *turn));

/* True if hooks of the call run: they start it later, or answer it. False: the caller starts it. */
bool turn_hooks_before_call(struct turn *turn, struct tool_call *call);
/* Runs the hooks of a call that has ended, then `then`. */
void turn_hooks_end_call(struct turn *turn, struct tool_call *call, void (*then)(struct turn *turn));
/* Adds the contexts to the history, after the outputs of the calls. */
void turn_hooks_record(struct turn *turn);

/* ---- the calls of the response ---- */

/* Creates a turn that has not made a request. */
struct turn *turn_create(struct turn_env *env, const struct turn_question *question);
/* Adds the call that an item of the history describes. */
void turn_add_call(struct turn *turn, const struct json *item);
/* Starts the calls that were added to a turn without a request. */
void turn_run_calls(struct turn *turn);

/* Adds a call, which starts when the response is complete. */
void turn_add_tool(struct turn *turn, const struct tool_call_words *words);

#endif
