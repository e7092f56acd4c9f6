/* thread_note.h — data of a thread that is not in its rollout: how far the user has read, and corrections by
 * clients. Each thread with such data has a small file, $CODEX_HOME/thread_notes/<id>.json.
 *
 * Owns: nothing; its pointers refer to the arena it was made in. Any thread; reading and writing block for one small
 * file. A damaged file counts as absent. */
#ifndef APP_SERVER_THREAD_NOTE_H
#define APP_SERVER_THREAD_NOTE_H

#include "base/arena.h"
#include "base/error.h"
#include "protocol/message/app.h"

struct thread_note {
	struct app_thread_read_state *read; /* NULL: everything has been read, as in a new thread */
	struct app_git_info *git;           /* replaces the repository of the rollout; NULL: no correction */
	bool has_daybreak, daybreak;
};

void thread_note_read(const char *home, struct str thread_id, struct arena *arena, struct thread_note *ret);
must_check int thread_note_write(const char *home, struct str thread_id, const struct thread_note *note,
                                 struct error *err);
/* To be called for a deleted thread. */
void thread_note_remove(const char *home, struct str thread_id);
void thread_note_copy(const struct thread_note *from, struct arena *arena, struct thread_note *to);

/* Returns the read state; for a note without one, the initial state. */
struct app_thread_read_state thread_note_state(const struct thread_note *note, struct str thread_id,
                                               struct arena *arena);
/* These make a new revision. mark_unread: unread from that turn on, or from the beginning of the thread if STR_NONE. */
void thread_note_mark_read(struct thread_note *note, struct arena *arena);
void thread_note_mark_unread(struct thread_note *note, struct str turn_id, struct arena *arena);
/* Applies the corrections to a view of the thread. */
void thread_note_apply(const struct thread_note *note, struct app_thread *view);

#endif
