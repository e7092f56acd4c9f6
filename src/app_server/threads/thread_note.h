/* thread_note.h — what is noted of a thread beside what happened in it: how far the user has read, and what clients
 * have corrected. One small file a thread, $CODEX_HOME/thread_notes/<id>.json; none, where nothing was noted.
 *
 * Owns: nothing; what it points to lives in the arena it was made in. Any thread; reading and writing block for the
 * time of one small file. A file that is damaged says nothing. Source: app-server-wire 4 and 12. */
#ifndef APP_SERVER_THREAD_NOTE_H
#define APP_SERVER_THREAD_NOTE_H

#include "base/arena.h"
#include "protocol/message/app.h"

struct error;

struct thread_note {
	struct app_thread_read_state *read; /* NULL: as it was made, all was read */
	struct app_git_info *git;           /* in place of what the rollout says, or NULL */
	bool has_daybreak, daybreak;
};

void thread_note_read(const char *home, struct str thread_id, struct arena *arena, struct thread_note *ret);
int thread_note_write(const char *home, struct str thread_id, const struct thread_note *note, struct error *err);
/* The thread is no more. */
void thread_note_remove(const char *home, struct str thread_id);
void thread_note_copy(const struct thread_note *from, struct arena *arena, struct thread_note *to);

/* How far it was read. */
struct app_thread_read_state thread_note_state(const struct thread_note *note, struct str thread_id,
                                               struct arena *arena);
/* Under a new revision: all was read, or it is to be read from that turn on, or (absent) from the beginning. */
void thread_note_mark_read(struct thread_note *note, struct arena *arena);
void thread_note_mark_unread(struct thread_note *note, struct str turn_id, struct arena *arena);
/* What clients have corrected, in a view of the thread. */
void thread_note_apply(const struct thread_note *note, struct app_thread *view);

#endif
