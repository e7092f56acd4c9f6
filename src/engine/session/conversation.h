/* conversation.h — a history, what its model knows of the settings, and what its requests have counted.
 *
 * A Session has the user's conversation; a review Task has one of its own, with another voice. Only the user's is
 * recorded in the rollout; events are emitted for both. Owns: everything in it but the session. Loop thread only. */
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
/* Makes the history state these settings, up to its last item; NULL: it states none. Takes a reference. */
void conversation_set_announced(struct conversation *conversation, struct settings *settings);

/* ---- items ---- */

/* Appends one item, and records it. */
void conversation_add(struct conversation *conversation, struct str item);
/* The rollout gets `recorded` in place of the item, now and whenever the history is recorded again. */
void conversation_add_secret(struct conversation *conversation, struct str item, struct str recorded);
/* conversation_add, but the buffer is left empty, and a large item is not copied. */
void conversation_add_buf(struct conversation *conversation, struct buf *item);

/* ---- calls without an output ---- */

struct open_call {
	struct str call_id; /* owned */
	bool is_custom;
};
struct open_calls {
	VEC(struct open_call) list;
};
/* Adds those of the context; any thread. */
void open_calls_find(struct open_calls *open, const struct context *context);
void open_calls_finish(struct open_calls *open);
/* Gives each of these calls an output that says "aborted". They must be calls of this history. */
void conversation_answer_calls(struct conversation *conversation, const struct open_calls *open);
/* The same for every call without an output: providers refuse a history that has one. */
void conversation_close_calls(struct conversation *conversation);
/* The first index from `index` on where the history can be cut: no later output answers an earlier call. */
size_t conversation_find_cut(const struct conversation *conversation, size_t index);

/* ---- the whole history ---- */

/* Takes over another history, which states these settings, and records it. No request may be borrowing the old one.
 * summary: what a compaction made of the old history. */
void conversation_replace(struct conversation *conversation, struct context *fresh, struct str turn_id,
                          struct settings *settings, struct str summary);
/* Records a history that was shared from another conversation. */
void conversation_record_all(struct conversation *conversation);
/* Records the whole history in place of what the rollout has; summary: of a compaction, or "". */
void conversation_record_history(struct conversation *conversation, struct str summary);
/* Records the settings of a Turn. */
void conversation_record_settings(struct conversation *conversation, struct str turn_id,
                                  const struct settings *settings);

#endif
