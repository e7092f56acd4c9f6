/* thread_history.h — the turns of a thread, read from its rollout, for resume, read and list requests.
 *
 * Reads item_completed lines and, in files without numbered lines, the older events (user_message, agent_message, …)
 * and the model's calls. A turn without an end record is interrupted, unless the caller knows that it still runs.
 *
 * Owns: nothing; all results live in the arena. Any thread, one at a time. */
#ifndef APP_SERVER_THREAD_HISTORY_H
#define APP_SERVER_THREAD_HISTORY_H

#include "app_server/history/history_notes.h"
#include "base/arena.h"
#include "protocol/message/app.h"

struct rollout_reader;

struct thread_history {
	struct app_turn *turns; /* oldest first, with all their items */
	size_t count;
	struct history_notes notes;
	const size_t *starts;                 /* for each turn, the index of its first record in the reader */
	struct str preview;                   /* the user's first message, or "" */
	int64_t created_at_ms, updated_at_ms; /* Unix milliseconds */
};

/* keeps_order: the files of a patch are in the patch's order, as the terminal has shown them, and not sorted. */
void thread_history_read_as(const struct rollout_reader *reader, bool keeps_order, struct arena *arena,
                            struct thread_history *ret);
static inline void thread_history_read(const struct rollout_reader *reader, struct arena *arena,
                                       struct thread_history *ret)
{
	thread_history_read_as(reader, false, arena, ret);
}
/* Returns NULL if no turn has this id. */
struct app_turn *thread_history_find(const struct thread_history *history, struct str turn_id);
/* Returns the id of the last turn; STR_NONE without turns. */
static inline struct str thread_history_last(const struct thread_history *history)
{
	return history->count ? history->turns[history->count - 1].id : STR_NONE;
}

/* ---- text for searches and their index ---- */

/* Returns the n-th text of the user or the model in an item; STR_NONE after the last. */
struct str thread_history_text(const struct app_thread_item *item, size_t n);
/* Appends all texts of the rollout, each followed by a newline; false if the file cannot be read now. A file that is
 * not a rollout contains no texts. Blocks. */
bool thread_history_read_text(const char *path, struct buf *out);

#endif
