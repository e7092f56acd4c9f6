/* thread_note.h — a thread's read state and the metadata that clients have corrected, in one small file per thread,
 * $CODEX_HOME/thread_notes/<id>.json. A thread without either has no file.
 *
 * Owns: nothing; what it points to lives in the arena it was made in. Any thread; reading and writing block for the
 * time of one small file. A damaged file counts as empty. */
#ifndef APP_SERVER_THREAD_NOTE_H
#define APP_SERVER_THREAD_NOTE_H

#include "base/arena.h"
#include "protocol/message/app.h"

struct error;

struct thread_note {
	struct app_thread_read_state *read; /* NULL: initial state, everything was read */
	struct app_git_info *git;           /* replaces the rollout's, or NULL */
	bool has_daybreak, daybreak;
};

void thread_note_read(const char *home, struct str thread_id, struct arena *arena, struct thread_note *ret);
int thread_note_write(const char *home, struct str thread_id, const struct thread_note *note, struct error *err);
/* Removes the note of a deleted thread. */
void thread_note_remove(const char *home, struct str thread_id);
void thread_note_copy(const struct thread_note *from, struct arena *arena, struct thread_note *to);

/* The current read state. */
struct app_thread_read_state thread_note_state(const struct thread_note *note, struct str thread_id,
                                               struct arena *arena);
/* Each sets a new revision: everything is read, or unread from that turn on, or (absent) from the beginning. */
void thread_note_mark_read(struct thread_note *note, struct arena *arena);
void thread_note_mark_unread(struct thread_note *note, struct str turn_id, struct arena *arena);
/* Applies the corrected metadata to a view of the thread. */
void thread_note_apply(const struct thread_note *note, struct app_thread *view);

#endif
