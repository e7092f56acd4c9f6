/* rollout_journal.h — selects the events of a session that its rollout records, and converts them to lines.
 *
 * It records the start and end of turns, completed items (messages, reasoning, commands, patches, images, calls of
 * subagent tools), token counts, states of subagents. It does not record progress. In a numbered file (codex 0.169)
 * an item is an item_completed line with the id and the times that clients received; items that are open at the end
 * of the turn are written in their current state. The legacy events (user_message, agent_message, …) follow an item;
 * a file without numbers has only these.
 *
 * Owns: the data of open items. Loop thread. Errors as rollout_writer_append. Source: docs/rollouts.md. */
#ifndef ROLLOUT_ROLLOUT_JOURNAL_H
#define ROLLOUT_ROLLOUT_JOURNAL_H

#include "base/error.h"
#include "base/str.h"

struct event_msg;
struct rollout_journal;
struct rollout_writer;

/* Borrows the writer, copies the thread id. Never NULL. */
struct rollout_journal *rollout_journal_create(struct rollout_writer *writer, struct str thread_id);
void rollout_journal_destroy(struct rollout_journal *journal); /* NULL is a no-op */
/* Continues a turn of the file whose beginning another process has written, under recorded_id. */
void rollout_journal_continue(struct rollout_journal *journal, struct str turn_id, struct str recorded_id);

/* To be called with every event of the session, in order. turn_id is the id of the event's task. */
must_check int rollout_journal_event(struct rollout_journal *journal, struct str turn_id, const struct event_msg *event,
                                     struct error *err);
/* To be called with the answer to a request for the approval of a call. */
void rollout_journal_decide(struct rollout_journal *journal, struct str call_id, bool is_declined);
/* Returns the turn's name in the file, borrowed until the next task_started. Clients choose the ids of their tasks
 * and may reuse them after a resume; names in the file are unique. */
struct str rollout_journal_turn_id(const struct rollout_journal *journal, struct str turn_id);

#endif
