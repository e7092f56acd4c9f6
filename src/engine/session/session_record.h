/* session_record.h — what of a Session goes into its rollout, and when (core 10). Private to engine/. */
#ifndef ENGINE_SESSION_RECORD_H
#define ENGINE_SESSION_RECORD_H

#include "base/vec.h"
#include "protocol/record/types.h"

struct buf;
struct context;
struct error;
struct session;
struct settings;

/* One history item: into the context and the rollout. */
void session_record_item(struct session *session, struct str item);
/* One of which the rollout shall have `recorded` instead, now and whenever the history is recorded anew. */
void session_record_secret(struct session *session, struct str item, struct str recorded);
/* The same as the first; the buffer is left empty, and a large item is not copied. */
void session_record_item_buf(struct session *session, struct buf *item);
/* Calls of a history without an output. */
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
/* Gives each of them, if they are those of its history, an output that says "aborted". */
void session_answer_calls(struct session *session, const struct open_calls *open);
/* Gives every call without an output one that says "aborted", as a request needs it (core 1.4). */
void session_close_calls(struct session *session);
/* The first place at or behind `index` where the history can be cut: no output behind it answers a call before it. */
size_t session_find_cut(const struct session *session, size_t index);
/* A history that began as another's, shared: all of it into the rollout. */
void session_record_inherited(struct session *session);
/* An event's line, if its kind is kept (rollout_journal.h); every event that is told comes through here. */
void session_record_event(struct session *session, struct str turn_id, enum event_tag tag, const void *body);
/* The user said no to this call; before the event that ends it. */
void session_record_decline(struct session *session, struct str call_id);
void session_record_turn_context(struct session *session, struct str turn_id, const struct settings *settings);

/* The last user_turns turns were taken back. */
void session_record_rewind(struct session *session, size_t user_turns);
/* The whole history anew, in place of what was recorded before; summary: what a compaction made of that, or "". */
void session_record_history(struct session *session, struct str summary);

/* Writes what is pending; called before events leave. Lines that could not be written stay pending. */
int session_flush_rollout(struct session *session, struct error *err);
/* A Task ended: flush, and fsync where the configuration wants it per turn. */
void session_sync_rollout(struct session *session);

#endif
