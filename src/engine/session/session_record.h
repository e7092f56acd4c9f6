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

/* An event's line, if its kind is kept (rollout_journal.h); every event that is told comes through here. */
void session_record_event(struct session *session, struct str turn_id, enum event_tag tag, const void *body);
/* The user said no to this call; before the event that ends it. */
void session_record_decline(struct session *session, struct str call_id);

/* The last user_turns turns were taken back. */
void session_record_rewind(struct session *session, size_t user_turns);

/* Writes what is pending; called before events leave. Lines that could not be written stay pending. */
int session_flush_rollout(struct session *session, struct error *err);
/* A Task ended: flush, and fsync where the configuration wants it per turn. */
void session_sync_rollout(struct session *session);

#endif
