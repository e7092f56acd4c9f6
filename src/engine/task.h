/* task.h — one Task: Codex working on one user input, a series of Turns (seed 000). Private to engine/.
 *
 * States: running, or blocked while a question waits for the user; both count as "the Task".
 * It ends by itself (task_complete), by an error (error, then task_complete) or by abort (turn_aborted).
 * Owns: its Turn, its settings snapshot, its pending input. */
#ifndef ENGINE_TASK_H
#define ENGINE_TASK_H

#include "base/arena.h"
#include "engine/settings.h"
#include "patch/git_diff.h"
#include "protocol/types.h"

struct patch_plan;
struct session;
struct turn;

struct task_input {
	const struct user_input *items;
	size_t count;
	struct str output_schema; /* JSON, or absent */
};

struct task {
	/* read-only */
	struct session *session;
	struct str id; /* sub_id of the submission that started it; also the turn_id of its events */
	struct settings *settings;
	struct str output_schema;
	struct str turn_state;       /* of the Task's first response, absent before */
	size_t last_message;         /* where in the history the last message of the model is */
	bool has_last_message;
	struct str last_response_id; /* owned */
	uint64_t started_ns;
	/* private */
	struct turn *turn;
	struct arena arena;
	struct buf pending; /* steered input items waiting for the next Turn, JSON, one per line */
	unsigned stream_retries;
	struct git_diff diff; /* what its patches have changed */
};

/* Starts the session's Task; the session must have none. Input is copied. */
void task_start(struct session *session, struct str id, const struct task_input *input);
/* Adds input to a running Task; it reaches the model with the next Turn. */
void task_steer(struct task *task, const struct task_input *input);
/* Stops everything, tells turn_aborted, frees the task. */
void task_abort(struct task *task, enum turn_abort_reason reason);
/* Nobody takes events now: the Turn stands still until it is released. */
void task_hold(struct task *task);
void task_release(struct task *task);
/* Frees without telling anybody. NULL is fine. */
void task_destroy(struct task *task);

/* A patch has been written (task_diff.c). */
void task_note_patch(struct task *task, const struct patch_plan *plan);
/* Tells turn_diff, if patches have changed anything. */
void task_tell_diff(struct task *task);

/* For turn.c: the Turn is over. needs_turn: outputs or input wait for another. */
void task_on_turn_end(struct task *task, bool needs_turn);
/* For turn.c: the Turn failed for good. info: CodexErrorInfo as JSON. */
void task_on_turn_failed(struct task *task, const char *message, const char *info);

#endif
