/* thread_history.h — the turns of a thread, read from its rollout, for resume, read and list requests.
 *
 * Understands what the reader does: item_completed lines and, in files that are not numbered, the older words
 * (user_message, agent_message, …) and the calls that the model made. A turn that was told to begin and never to
 * end is interrupted; whoever holds the thread and knows better says so.
 *
 * Owns: nothing; all it returns lives in the arena. Any thread, one at a time. Source: app-server-wire 12 and 20. */
#ifndef APP_SERVER_THREAD_HISTORY_H
#define APP_SERVER_THREAD_HISTORY_H

#include "base/arena.h"
#include "protocol/message/app.h"

struct rollout_reader;

struct thread_history {
	struct app_turn *turns; /* oldest first, with all their items */
	size_t count;
	const size_t *starts;                 /* of each turn, which of the reader's records is its first */
	struct str preview;                   /* what the user said first; "" if nothing */
	int64_t created_at_ms, updated_at_ms; /* Unix */
};

void thread_history_read(const struct rollout_reader *reader, struct arena *arena, struct thread_history *ret);
/* NULL if there is none of that id. */
struct app_turn *thread_history_find(const struct thread_history *history, struct str turn_id);
/* The id of the last one; absent: there is none. */
static inline struct str thread_history_last(const struct thread_history *history)
{
	return history->count ? history->turns[history->count - 1].id : STR_NONE;
}

/* ---- text: what a search and its index look at ---- */

/* The n-th text of the user or the model in an item; STR_NONE after the last. */
struct str thread_history_text(const struct app_thread_item *item, size_t n);
/* Appends all texts of the rollout, each with a newline; false if the file cannot be read now. A file that is not a
 * rollout has none. Blocks. */
bool thread_history_read_text(const char *path, struct buf *out);

#endif
