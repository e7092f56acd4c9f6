/* task.h — one task: a series of turns that one submission starts. Private to engine/.
 *
 * Each Task is of a kind (task_user.c, task_review.c, …); task.c has the part that all kinds share. A Task ends by
 * itself (task_complete), by an error (error, then task_complete) or by abort (turn_aborted). Owns: its Turn, its
 * settings snapshot, its pending input. Loop thread only. */
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
struct hook_batch;
struct hook_result;
struct patch_plan;
struct session;
struct task;
struct turn;
struct unfinished;

struct task_input {
	const struct user_input *items;
	size_t count;
	struct str output_schema; /* JSON, or STR_NONE */
	struct str client_id;     /* the client's name for this input, or STR_NONE */
};

/* A kind of task. A NULL function is a no-op. */
struct task_kind {
	size_t size; /* size of the kind's struct, whose first member is the task */
	/* Takes input while the task runs; NULL: the kind takes none. */
	void (*steer)(struct task *task, const struct task_input *input);
	/* Called after the turn has ended and was destroyed. needs_turn: the history has outputs that the model has
	 * not read. */
	void (*on_turn_end)(struct task *task, bool needs_turn);
	/* Called when the compaction has replaced the history. */
	void (*on_compacted)(struct task *task);
	/* Called before the task ends by an error or an abort: completes the history. by_user: the user has
	 * interrupted it. */
	void (*on_cut_short)(struct task *task, bool by_user);
	/* Frees the members of the kind's struct. */
	void (*finish)(struct task *task);
};

/* Continues a task after hooks. */
typedef void (*task_hooked_fn)(struct task *task, const struct hook_result *result);

/* Callbacks to the owner of a task. */
struct task_events {
	/* The task succeeded. Called before task_complete is emitted. */
	void (*on_success)(void *self, const struct task *task);
	/* The task was destroyed, and the history has all items that waited for its end. */
	void (*on_end)(void *self);
};

/* The owner of tasks; all tasks of a session share it. */
struct task_owner {
	struct session *session;
	const struct task_events *events;
	const struct inbox_ops *inbox;
	bool is_continued; /* the next task was started by another process, so it emits no task_started */
	void *self;        /* passed to the functions of events and inbox */
};

struct task {
	/* read-only */
	const struct task_kind *kind;
	const struct task_owner *owner;
	struct session *session;
	struct str id; /* of the submission that started it, or its own (turn_ids.h); also the turn_id of its events */
	struct settings *settings;
	struct turn_env turn_env;    /* lent to its Turns */
	struct str last_response_id; /* owned */
	uint64_t started_ns;
	struct turn *turn;        /* NULL between two turns */
	struct compact *compact;  /* the compaction that the turn belongs to; else NULL */
	struct hook_batch *hooks; /* the hooks that the task waits for between two turns, or NULL */
	task_hooked_fn after_hooks;
	struct arena arena;
	bool has_unread;      /* the task was cut short, and no request contains the input that joined it */
	struct git_diff diff; /* of the files that the task's patches have changed */
};

/* ---- starts, one for each kind; the Session must have no Task ---- */

/* Starts a task for input of the user, which is copied. */
void task_start_user(const struct task_owner *owner, struct str id, const struct task_input *input);
/* Starts a task for the messages in the inbox. interrupts_only: only for the interrupts at first. */
void task_start_inbox(const struct task_owner *owner, struct str id, bool interrupts_only);
/* Starts a task for the goal of the session, which must have one. */
void task_start_goal(const struct task_owner *owner, struct str id);
/* Starts a task that compacts the history at the user's request. */
void task_start_compact(const struct task_owner *owner, struct str id);

struct shell_request {
	struct str command;
	uint64_t timeout_ms;
};
/* Starts a task that runs a user shell command. Input that arrives meanwhile is answered when the command has ended. */
void task_start_shell(const struct task_owner *owner, struct str id, const struct shell_request *request);

/* Starts a code review in a conversation of its own. request names the code by target or by prompt. ERR_… for a
 * model that cannot be used; there is no task then. */
must_check int task_start_review(const struct task_owner *owner, struct str id, const struct review_request *request,
                                 struct error *err);

/* Continues the task that another process has left, and emits a warning that names that process. A call that had begun
 * and not ended is reported as interrupted, also to the model, and is never repeated. Everything else is done again. */
void task_continue(struct task_owner *owner, const struct unfinished *unfinished);

/* ---- a running Task ---- */

/* Returns the task that a turn belongs to. */
struct task *task_of_turn(const struct turn *turn);
bool task_can_steer(const struct task *task);
/* Adds input, which the next Turn sends to the model. task_can_steer must be true. */
void task_steer(struct task *task, const struct task_input *input);
/* Runs a user shell command in parallel to the task. */
void task_add_shell(struct task *task, const struct shell_request *request);
/* Terminates all user shell commands and emits exec_command_end for each. */
void session_abort_shells(struct session *session);
/* As session_abort_shells, without events. */
void session_destroy_shells(struct session *session);
/* Adds the items that wait for the end of a turn (reports of user shell commands, items of codex_add_items) to the
 * history. Every call of the model must have its output. */
void session_record_unheard(struct session *session);
/* Ends all work of the task, emits turn_aborted and destroys it. */
void task_abort(struct task *task, enum turn_abort_reason reason);
/* Backpressure: pauses the Turn until task_release. */
void task_hold(struct task *task);
void task_release(struct task *task);
/* Ends all work without events. NULL is fine. */
void task_destroy(struct task *task);

/* To be called when a patch was applied: emits turn_diff. */
void task_note_patch(struct task *task, const struct patch_plan *plan);

/* ---- for the kinds ---- */

/* Creates the Session's Task and emits task_started. Never NULL. The Session must have no Task. */
struct task *task_create(const struct task_kind *kind, const struct task_owner *owner, struct str id);
/* As task_create, with other settings than the session's; takes a reference. */
struct task *task_create_under(const struct task_kind *kind, const struct task_owner *owner, struct str id,
                               struct settings *settings);
/* Emits task_complete and destroys the Task. */
void task_complete(struct task *task);
/* Calls on_success, then task_complete. */
void task_succeed(struct task *task);
/* Returns the model's last message, allocated in spare or the arena; STR_NONE if the model sent none. */
struct str task_last_message(const struct task *task, struct arena *arena, struct buf *spare);
/* True if the history has reached the size at which it must be compacted. */
bool task_needs_compact(const struct task *task);
/* Starts a compaction; the task must have no turn. It ends in the kind's on_compacted, or in an error that ends the
 * Task, perhaps at once. */
void task_compact(struct task *task);
void task_emit(struct task *task, enum event_tag tag, const void *body);
/* Emits item_started or item_completed. */
void task_emit_item(struct task *task, enum event_tag tag, struct turn_item *item);

/* A Task of user input that has no input yet and waits for a user shell command. task_end_waiting starts a Turn on the
 * input that arrived meanwhile, or completes the Task. */
struct task *task_start_waiting(const struct task_owner *owner, struct str id);
bool task_is_waiting(const struct task *task);
void task_end_waiting(struct task *task);

/* Emits the input as a user_message item, both started and completed. */
void task_emit_message(struct task *task, const struct task_input *input);
/* Reports that the input exceeds LIMIT_USER_ITEM. */
void task_emit_too_large(struct task *task);
struct task_input task_input_copy(const struct task_input *input, struct arena *arena);

/* A Task of user input that another process has begun. */
struct task *task_start_continued(const struct task_owner *owner, struct str id);
/* Adds input for the next Turn without events. */
void task_add_input(struct task *task, const struct task_input *input);
void task_next_turn(struct task *task);

/* ---- task_hooks.c: a task waits for one batch of hooks at a time; an abort cancels it ----
 *
 * Each calls `then` with the result of the hooks: at once, and with an empty one, if no hook runs. */

/* Runs the hooks of the start of the session or of the subagent, unless it has started. */
void task_run_start_hooks(struct task *task, task_hooked_fn then);
/* Runs the hooks of the end of a task. */
void task_run_stop_hooks(struct task *task, bool is_active, task_hooked_fn then);
/* Runs the hooks of a prompt. */
void task_run_prompt_hooks(struct task *task, const struct task_input *input, task_hooked_fn then);
/* Starts the same hooks for input that joins a running task; NULL: no hook runs. */
struct hook_batch *task_start_prompt_hooks(struct task *task, const struct task_input *input,
                                           void (*done)(const struct hook_result *result, void *self), void *self);
/* Runs the hooks before or after a compaction. */
void task_run_compact_hooks(struct task *task, enum hook_event event, bool is_manual, task_hooked_fn then);

/* True if Stop hooks continue the task; adds their reason as a message then. blocks counts how often they have. */
bool task_is_continued(struct task *task, const struct hook_result *result, unsigned *blocks);

#endif
