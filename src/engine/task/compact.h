/* compact.h — the history replaced by a summary of it (core 11). Private to engine/.
 *
 * A compaction is a Turn that a Task puts between its others: the model is asked for a memo, and what the user
 * said, the initial context and the memo become the history. Until the memo is there nothing changes, so a
 * compaction that fails or is interrupted costs no history.
 * Owns: the question and the memo. While it goes on it is the Task's `compact`, and its Turn the Task's `turn`. */
#ifndef ENGINE_COMPACT_H
#define ENGINE_COMPACT_H

#include <stdbool.h>

struct compact;
struct task;

/* True if the history has grown beyond what its model should be sent. */
bool compact_is_due(const struct task *task);
/* Begins; the Task must have no Turn. Ends in the kind's on_compacted, or in task_fail, perhaps at once. */
void compact_start(struct task *task);
void compact_destroy(struct compact *compact); /* NULL is fine */

/* For task.c, when the Turn is gone: takes the memo over and ends the compaction. */
void compact_finish(struct task *task);
/* For task.c: the history does not fit the model any more. Leaves out its oldest items; false if nothing
 * would be left. */
bool compact_trim(struct task *task);
/* For task.c, behind that: asks again. */
void compact_ask(struct task *task);

#endif
