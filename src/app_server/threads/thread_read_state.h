/* thread_read_state.h — tracks how far the user has read a loaded thread. The state is stored in its note, changed
 * by turns and reverts, and reported as thread/readState/changed. Loop thread only. */
#ifndef APP_SERVER_THREAD_READ_STATE_H
#define APP_SERVER_THREAD_READ_STATE_H

#include "base/error.h"
#include "base/str.h"

struct app_server;
struct app_turn;
struct thread;
struct thread_history;
struct thread_note;

/* Writes the note of a thread and, if the thread is loaded, replaces its copy in memory. */
must_check int thread_note_keep(struct app_server *server, struct str thread_id, const struct thread_note *note,
                                struct error *err);
/* Writes a note that differs from the stored one. To be called before the thread is freed; a thread that was deleted
 * has no note to save. */
void thread_read_state_save(struct thread *thread);
/* Sends the read state to the subscribers; no-op for the initial state. */
void thread_read_state_notify(struct thread *thread);

/* To be called at the end of a turn: the turn becomes unread, unless an earlier one is. */
void thread_read_state_on_turn_end(struct thread *thread, struct str turn_id);
/* To be called when the turns from `from` on were removed: if the first unread turn is among them, all turns are
 * read. */
void thread_read_state_on_revert(struct thread *thread, const struct thread_history *history,
                                 const struct app_turn *from);

#endif
