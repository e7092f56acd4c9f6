/* rpc_note.h — what a thread's life does to what is noted of it (thread_note.h). Loop thread only.
 * Source: app-server-wire 4 and 12. */
#ifndef APP_SERVER_RPC_NOTE_H
#define APP_SERVER_RPC_NOTE_H

#include "base/str.h"

struct app_turn;
struct thread;
struct thread_history;

/* The user has something to read. */
void rpc_note_on_turn_end(struct thread *thread, struct str turn_id);
/* The turns from `from` on are taken back: nobody has to read them any more. */
void rpc_note_on_revert(struct thread *thread, const struct thread_history *history, const struct app_turn *from);

#endif
