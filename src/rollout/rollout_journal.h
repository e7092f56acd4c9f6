/* rollout_journal.h — events in, lines out: what of a session's events its rollout keeps, and in which words.
 *
 * Kept: begin and end of turns, whole items (what is said and thought, commands, patches, images, dealings with
 * subagents), token counts, what becomes of subagents. Not kept: what only shows work in progress. In a numbered file
 * (0.169's) an item is an item_completed line with the id and the times that clients were told; what had begun when its
 * turn ended is written as far as it got. What older versions know to show (user_message, agent_message, …) stands
 * behind it; an unnumbered file has only these words.
 *
 * Owns: what is remembered of items that have begun. Loop thread. Errors as rollout_writer_append.
 * Source: protocol-v1 4 and 5 "Rollout", app-server-wire 20, docs/rollouts.md. */
#ifndef ROLLOUT_ROLLOUT_JOURNAL_H
#define ROLLOUT_ROLLOUT_JOURNAL_H

#include "base/error.h"
#include "base/str.h"

struct event_msg;
struct rollout_journal;
struct rollout_writer;

/* The writer is borrowed, the thread's id copied. Never NULL. */
struct rollout_journal *rollout_journal_create(struct rollout_writer *writer, struct str thread_id);
void rollout_journal_destroy(struct rollout_journal *journal); /* NULL is fine */

/* Every event of the session in order; turn_id: the id of the Task that it belongs to. */
must_check int rollout_journal_event(struct rollout_journal *journal, struct str turn_id, const struct event_msg *event,
                                     struct error *err);
/* The user said no to this call. */
void rollout_journal_decline(struct rollout_journal *journal, struct str call_id);
/* The turn's name in the file: a client may number its Tasks as it likes, and begin again after a resume; in the file
 * a name is used once. Borrowed until the next task_started. */
struct str rollout_journal_turn_id(const struct rollout_journal *journal, struct str turn_id);

#endif
