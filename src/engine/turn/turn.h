/* turn.h — one Turn: a request to the Model, its stream, its tools (seed 000). Private to engine/.
 *
 * A broken stream is tried again inside the Turn, up to the provider's stream_max_retries.
 * Items are recorded the moment the model has finished them; tools run once the response is complete.
 * Owns: the model call, the tool calls of the response, the item being streamed. */
#ifndef ENGINE_TURN_H
#define ENGINE_TURN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "model/model_error.h"
#include "model/model_stream.h"

struct conversation;
struct json;
struct model_call;
struct session;
struct settings;
struct tool_call;
struct turn_item;
struct turn_reader;
struct tool_call_words;

/* The text of an item as the clients have it, so that the next attempt of a broken stream does not repeat it: a copy of
 * the deltas, up to LIMIT_STREAMED_TEXT. An all-zero struct is empty. */
struct turn_shown {
	/* private */
	struct buf text;
	size_t repeated;   /* bytes of it that the next attempt has sent again */
	bool is_repeating; /* and all of them were the same */
};

void turn_shown_finish(struct turn_shown *shown);
/* The part of a delta that clients do not have: all of it from the first difference on. Borrowed from text. */
struct str turn_shown_add(struct turn_shown *shown, struct str text);

/* What becomes of a Turn. The owner may destroy the Turn in both. */
struct turn_events {
	/* The response is complete and recorded. needs_turn: outputs of its calls wait for the model. */
	void (*on_end)(void *self, bool needs_turn);
	/* No attempt is left: `failure` of the Turn says why. */
	void (*on_failed)(void *self);
};

/* The Session's inbox of messages from other agents. */
struct inbox_ops {
	/* Moves it to the end of the history; interrupts_only: the interrupts alone. True if there was anything. */
	bool (*read)(void *self, bool interrupts_only);
	/* The same before the outputs of a response's calls, where the configuration asks for that. */
	void (*read_early)(void *self);
	/* The history holds what was taken out of the inbox, and the root's rollout may say so: a process that dies
	 * before that reads it again when it resumes. */
	void (*record_taken)(void *self);
};

/* The plan that a Task in plan mode proposes: at most one. */
enum turn_plan { TURN_PLAN_none, TURN_PLAN_open, TURN_PLAN_done };

/* What a Turn is given by its owner, and what one Task's Turns share. */
struct turn_env {
	/* set by the owner */
	struct session *session;
	struct conversation *conversation;
	struct str id; /* turn_id of the events */
	struct settings *settings;
	struct str output_schema; /* JSON, or absent */
	struct arena *arena;      /* for strings below */
	const struct turn_events *events;
	void *self; /* of the events */
	const struct inbox_ops *inbox;
	void *inbox_self;
	/* kept by the Turns */
	struct str turn_state; /* of the first response; absent before */
	size_t last_message;   /* index of the model's last message in the history */
	bool has_last_message;
	bool is_rerouted; /* model_reroute was emitted */
	enum turn_plan plan;
	struct str plan_id; /* absent before there is one */
	struct turn_shown plan_shown;
};

enum turn_item_kind { TURN_ITEM_none, TURN_ITEM_message, TURN_ITEM_reasoning, TURN_ITEM_web_search };

/* The item whose deltas are arriving. */
struct turn_open_item {
	enum turn_item_kind kind;
	bool is_told;  /* item_started was sent */
	char *id;      /* as clients know it */
	char *wire_id; /* as the model names it in this attempt, or NULL */
	struct turn_shown shown;
	char *phase;                /* of a message, as the model named it, or NULL */
	struct turn_reader *reader; /* of a message in plan mode; NULL before its first delta */
};

/* What a Turn asks, and who listens. */
struct turn_question {
	response_event_fn on_event; /* self: the Turn */
	void *self;                 /* of the asker, for on_event */
	struct str item;            /* asked behind the history, a JSON item; borrowed while the Turn lives. Absent: the
	                             * next step of the conversation is wanted, with all tools */
	size_t first_item;          /* of the history that is sent */
};

struct turn {
	struct turn_env *env;
	struct turn_question question;
	struct model_call *call;
	struct str *segments; /* lent to the model call */
	struct loop_timer *retry;
	struct loop_deferred next; /* the step after the stream, outside its callbacks */
	unsigned retries;
	bool is_complete; /* response.completed was seen */
	bool is_chained;  /* the request named a response to go on from */
	bool has_limits;  /* its head was seen, with the account's limits */
	struct turn_open_item open;
	struct turn_open_item kept[TURN_ITEM_web_search]; /* by kind: begun by an attempt that broke */
	char *response_id;
	VEC(struct tool_call *) tools; /* the response's calls, in the order the model made them */
	size_t started;                /* of them; they start in order */
	size_t running;                /* started tools that have not finished */
	bool runs_tools;               /* the response is read, its calls are being carried out */
	bool is_exclusive;             /* a tool that wants to be alone is running */
	char *failure;                 /* text and CodexErrorInfo of an end for good */
	char *failure_info;
	enum model_error_kind failure_kind;
};

/* Asks for the next step: the whole history, with all tools. */
struct turn *turn_start(struct turn_env *env);
/* Asks something about the history, without tools; or for the next step, with another listener. */
struct turn *turn_ask(struct turn_env *env, const struct turn_question *question);
/* Ends the model call and all tools without events. NULL is fine. */
void turn_destroy(struct turn *turn);
/* Interrupt: ends everything and records what the model must know of it (outputs of unfinished calls). */
void turn_abort(struct turn *turn);

/* Nobody takes events now: the model's stream stands still and no call is started, until it is released. */
void turn_hold(struct turn *turn);
void turn_release(struct turn *turn);

/* turn_stream.c: what the model says. */
void turn_on_event(const struct response_event *event, void *self);
/* The item whose deltas come; tell says that it has begun, once. */
void turn_open_item(struct turn *turn, enum turn_item_kind kind, struct str id);
void turn_tell_open_item(struct turn *turn);
/* It is whole. What nothing was told of before begins with all that it says. */
void turn_tell_whole_item(struct turn *turn, struct turn_item *item);
void turn_close_item(struct turn *turn);
/* The stream broke: the next attempt goes on in the item that clients have been told of. */
void turn_keep_item(struct turn *turn);
void turn_drop_kept(struct turn *turn);
/* Completes the items that clients know and that no attempt finished, with the text that clients have (up to
 * LIMIT_STREAMED_TEXT). The message enters the history if the response is complete; that of a failed Turn does not. */
void turn_complete_unfinished(struct turn *turn);
/* Whether a delta belongs to the open item; one of an item that was never added belongs to none. */
bool turn_is_open(const struct turn *turn, enum turn_item_kind kind, struct str id);
/* Leaves of a delta what clients have not been told by an attempt that broke. False: nothing. */
bool turn_tell_new(struct turn *turn, struct str *text);
/* turn_message.c: what of it is for the user, and what is a plan. */
void turn_message_added(struct turn *turn, const struct json *json);
void turn_message_delta(struct turn *turn, struct str id, struct str text);
void turn_message_done(struct turn *turn, const struct json *json);
void turn_message_cut_short(struct turn *turn);       /* completes the open message with its text so far */
void turn_reader_destroy(struct turn_reader *reader); /* NULL is fine */
/* The Task's plan is this text; nothing happens if it has one already. */
void turn_close_plan(struct turn_env *env, struct str text);
/* turn_tools.c: the response's calls; turn_on_tools_done when all have ended and are recorded. */
void turn_add_tool(struct turn *turn, const struct tool_call_words *words);
void turn_run_tools(struct turn *turn);
/* Ends all calls and discards them; nothing is recorded. */
void turn_drop_tools(struct turn *turn);
/* Ends all calls and records why they have no output: the user's interrupt, or a stream that broke before they ran. */
void turn_abort_tools(struct turn *turn, bool by_user);
void turn_on_tools_done(struct turn *turn);

#endif
