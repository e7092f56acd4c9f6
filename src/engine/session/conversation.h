/* conversation.h — adds, records and replaces the items of a conversation (struct conversation in session.h).
 *
 * A session has the user's conversation; a review task has a separate one with a different voice. Only the user's
 * conversation is recorded in the rollout; events are emitted for both. Loop thread only. */
#ifndef ENGINE_CONVERSATION_H
#define ENGINE_CONVERSATION_H

#include "base/str.h"
#include "base/vec.h"

struct buf;
struct context;
struct conversation;
struct conversation_voice;
struct session;
struct settings;

void conversation_init(struct conversation *conversation, struct session *session,
                       const struct conversation_voice *voice);
void conversation_finish(struct conversation *conversation);
/* Records that the history up to its last item describes these settings; NULL: none. Takes a reference. */
void conversation_set_announced(struct conversation *conversation, struct settings *settings);

/* ---- items ---- */

/* Appends an item and records it. */
void conversation_add(struct conversation *conversation, struct str item);
/* As conversation_add, for a secret item: the rollout gets `recorded` instead. */
void conversation_add_secret(struct conversation *conversation, struct str item, struct str recorded);
/* As conversation_add, but empties the buffer and adopts the memory of a large item. */
void conversation_add_buf(struct conversation *conversation, struct buf *item);

/* As context_segments; a part of a lite history begins with the tools and the system prompt nevertheless. */
struct str *conversation_segments(const struct conversation *conversation, size_t from, size_t *ret_count);

/* ---- calls without an output ---- */

struct open_call {
	struct str call_id; /* owned */
	const char *output; /* the type of its output */
};
struct open_calls {
	VEC(struct open_call) list;
};
/* Adds the calls of the context that have no output. Any thread. */
void open_calls_find(struct open_calls *open, const struct context *context);
void open_calls_finish(struct open_calls *open);
/* Adds the output "aborted" for each of these calls, which must be calls of this history. */
void conversation_answer_calls(struct conversation *conversation, const struct open_calls *open);
/* Adds the output "aborted" for every call without an output: providers reject a history with such a call. */
void conversation_close_calls(struct conversation *conversation);
/* Returns the first index from `index` on at which the history can be cut: no output after it belongs to a call
 * before it. */
size_t conversation_find_cut(const struct conversation *conversation, size_t index);

/* ---- the whole history ---- */

/* Replaces the history by `fresh`, which describes these settings, and records it; leaves `fresh` empty. No request
 * may be borrowing the old history. summary: that of the old history, from a compaction. */
void conversation_replace(struct conversation *conversation, struct context *fresh, struct str turn_id,
                          struct settings *settings, struct str summary);
/* Records all items of a history that was shared from another conversation. */
void conversation_record_all(struct conversation *conversation);
/* Records the whole history as a replacement of all earlier items. summary is that of a compaction, or "". */
void conversation_record_history(struct conversation *conversation, struct str summary);
/* Records the settings of a turn. */
void conversation_record_settings(struct conversation *conversation, struct str turn_id,
                                  const struct settings *settings);
/* Records that the environment has changed, so that a resume takes the new one; no-op before the first item. */
void conversation_record_environment(struct conversation *conversation);

#endif
