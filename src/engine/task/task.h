/* task.h — one Task: Codex working on one thing it was asked, a series of Turns (seed 000). Private to engine/.
 *
 * Every Task is of a kind (task_user.c, task_review.c, …); what is the same for all of them is in task.c.
 * States: running, or blocked while a question waits for the user; both count as "the Task".
 * It ends by itself (task_complete), by an error (error, then task_complete) or by abort (turn_aborted).
 * Owns: its Turn, its settings snapshot, its pending input. */
#ifndef ENGINE_TASK_H
#define ENGINE_TASK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "engine/session/settings.h"
#include "engine/turn/turn.h"
#include "patch/git_diff.h"
#include "protocol/record/types.h"

struct compact;
struct patch_plan;
struct session;
struct task;
struct turn;

struct task_input {
	const struct user_input *items;
	size_t count;
	struct str output_schema; /* JSON, or absent */
	struct str client_id;     /* the client's own name for it, or absent */
};

/* What makes one kind of Task differ from another. An entry that is NULL does nothing. */
struct task_kind {
	size_t size; /* of the kind's own struct, whose first member is the Task */
	/* Input that comes while it runs; NULL: it takes none. */
	void (*steer)(struct task *task, const struct task_input *input);
	/* Its Turn is over and gone; needs_turn: outputs wait for the model. */
	void (*on_turn_end)(struct task *task, bool needs_turn);
	/* The compaction it asked for is done, and the history another. */
	void (*on_compacted)(struct task *task);
	/* It will end before its time, by an error or the user's interrupt: what the history should still keep. */
	void (*on_cut_short)(struct task *task, bool by_user);
	/* Frees what the kind's own struct owns. */
	void (*finish)(struct task *task);
};

/* What happens to a Task, for its owner. */
struct task_events {
	/* It is the Session's Task now; no event of it has been emitted. */
	void (*on_start)(void *self, const struct task *task);
	/* It did what it was asked; before task_complete. */
	void (*on_success)(void *self, const struct task *task);
	/* It is gone, and the history holds everything that waited for its end. */
	void (*on_end)(void *self);
};

/* What owns Tasks: the same for all Tasks of a Session. */
struct task_owner {
	struct session *session;
	const struct task_events *events;
	const struct inbox_ops *inbox;
	void *self; /* of both */
};

struct task {
	/* read-only */
	const struct task_kind *kind;
	const struct task_owner *owner;
	struct session *session;
	struct str id; /* sub_id of the submission that started it; also the turn_id of its events */
	struct settings *settings;
	struct turn_env turn_env;    /* lent to its Turns */
	struct str last_response_id; /* owned */
	uint64_t started_ns;
	struct turn *turn;       /* NULL between two */
	struct compact *compact; /* the compaction that its Turn is for; else NULL */
	struct arena arena;
	struct git_diff diff; /* what its patches have changed */
};

/* ---- starts, one for each kind; the Session must have no Task ---- */

/* Works on what the user said. Input is copied. */
void task_start_user(const struct task_owner *owner, struct str id, const struct task_input *input);
/* Works on what other agents have said: its inbox. interrupts_only: on what goes first; the rest follows. */
void task_start_heard(const struct task_owner *owner, struct str id, bool interrupts_only);
/* Summarises the history because the user asked for it. */
void task_start_compact(const struct task_owner *owner, struct str id);

struct shell_request {
	struct str command;
	uint64_t timeout_ms;
};
/* Runs a command of the user's own, and answers what the user says until it ends. */
void task_start_shell(const struct task_owner *owner, struct str id, const struct shell_request *request);

/* Has a reviewer look at code, in a conversation of its own. request says of what, by target or by prompt; ERR_invalid,
 * and no Task, if the reviewer's model cannot be used. */
must_check int task_start_review(const struct task_owner *owner, struct str id, const struct review_request *request,
                                 struct error *err);

/* ---- for everybody ---- */

/* The Task that a Turn belongs to. */
struct task *task_of_turn(const struct turn *turn);
bool task_can_steer(const struct task *task);
/* Adds input to a running Task that takes it; it reaches the model with the next Turn. */
void task_steer(struct task *task, const struct task_input *input);
/* Runs a command of the user's own beside a running Task. */
void task_add_shell(struct task *task, const struct shell_request *request);
/* Ends all commands of the user's own, each told as ended. */
void session_abort_shells(struct session *session);
/* The same, but nobody is told. */
void session_destroy_shells(struct session *session);
/* What came of the user's commands goes into the history, where an item may stand now. */
void session_record_unheard(struct session *session);
/* Stops everything, tells turn_aborted, frees the task. */
void task_abort(struct task *task, enum turn_abort_reason reason);
/* Nobody takes events now: the Turn stands still until it is released. */
void task_hold(struct task *task);
void task_release(struct task *task);
/* Frees without telling anybody. NULL is fine. */
void task_destroy(struct task *task);

/* A patch has been written. */
void task_note_patch(struct task *task, const struct patch_plan *plan);

/* ---- for the kinds ---- */

/* Makes the session's Task and tells task_started. Never NULL. */
struct task *task_create(const struct task_kind *kind, const struct task_owner *owner, struct str id);
/* The same with settings of its own; a reference is taken. */
struct task *task_create_under(const struct task_kind *kind, const struct task_owner *owner, struct str id,
                               struct settings *settings);
/* Tells task_complete and frees the Task. */
void task_complete(struct task *task);
/* The Task did what it was asked: reports on_success, then completes. */
void task_succeed(struct task *task);
/* The model's last message, in spare or the arena; absent if there is none. */
struct str task_last_message(const struct task *task, struct arena *arena, struct buf *spare);
/* True if the history has reached the size at which it is to be compacted. */
bool task_needs_compact(const struct task *task);
/* Starts a compaction; the Task must have no Turn. Ends in the kind's on_compacted, or in task_fail, perhaps at once.
 */
void task_compact(struct task *task);
/* task_complete behind an error event. info: CodexErrorInfo as JSON. */
void task_fail(struct task *task, const char *message, const char *info);
void task_emit(struct task *task, enum event_tag tag, const void *body);
/* item_started or item_completed. */
void task_emit_item(struct task *task, enum event_tag tag, struct turn_item *item);

/* A Task of the user's own words that has none yet, and waits for something else to end; then it works on what was said
 * meanwhile, or completes. */
struct task *task_start_waiting(const struct task_owner *owner, struct str id);
bool task_is_waiting(const struct task *task);
void task_end_waiting(struct task *task);

/* The user's words, or what stands for them, as an item of the Task: begun and whole at once. */
void task_tell_message(struct task *task, const struct task_input *input);

#endif
