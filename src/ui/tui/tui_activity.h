/* tui_activity.h — what a turn is doing: the calls that run, the heading of the latest thought, and the attempt that is
 * made after a stream has broken. Shown in the live rows only.
 *
 * Owns: its texts, at most LIMIT_COMMANDS calls. Loop thread only. */
#ifndef UI_TUI_ACTIVITY_H
#define UI_TUI_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

struct event;
struct term_paint;
struct term_row;
struct tui_ask;

/* A call that has begun. */
struct running_call {
	char *call_id, *task, *text; /* task: the Task that runs it */
	char *process;               /* of a command: calls may repeat the id of one in the background; or NULL */
	const char *verb;
	uint64_t number;
	bool is_apart; /* the turn does not wait for its end: the user runs it, or it is in the background */
};

struct tui_activity {
	VEC(struct running_call) running;
	uint64_t begun;      /* calls that have begun so far */
	struct buf thinking; /* the beginning of the current thought */
	bool has_thought;    /* it is complete: the next one replaces it */
	bool hides_thoughts; /* none has a heading */
	bool is_retrying;    /* the attempt stands in place of the thought */
	char *cause;         /* of the turn's latest failed attempt, or NULL */
};

void tui_activity_init(struct tui_activity *activity);
void tui_activity_finish(struct tui_activity *activity);
/* Forgets the calls and the thought: the turn has ended. */
void tui_activity_end(struct tui_activity *activity);
/* Takes over thoughts, attempts and the ends of calls; other events change nothing. False: the event is a failed
 * attempt whose cause is known, and is not to be shown again. */
bool tui_activity_event(struct tui_activity *activity, const struct event *event);
/* A call that begins. verb: static text; process: STR_NONE if it has none. */
struct beginning_call {
	const char *verb;
	struct str call_id, task, process;
	bool is_apart;
};

/* The text is taken over. */
void tui_activity_add(struct tui_activity *activity, const struct beginning_call *begun, struct buf *text);
/* True if the turn waits for a call. */
bool tui_activity_is_calling(const struct tui_activity *activity);
/* Returns the number of the call in the order of their beginnings, or one more than all if it is not known. */
uint64_t tui_activity_forget(struct tui_activity *activity, struct str call_id, struct str process);
/* Returns the heading of the latest thought, or an empty text. */
struct str tui_activity_heading(const struct tui_activity *activity);

/* Live rows to draw. */
struct tui_rows {
	struct term_paint *paint;
	struct term_row *row; /* spare */
	size_t most;
	bool has_gap; /* an empty row comes before them */
};

/* Draws the calls, except those that wait for an approval. */
void tui_activity_draw(const struct tui_activity *activity, const struct tui_ask *ask, const struct tui_rows *rows);

enum { RUNNING_SHOWN = 3 };

#endif
