/* guardian_request.h — what the automatic reviewer receives: the recent history and the action, as one JSON object.
 *
 * Everything that the model, its tools or a server wrote is inside of JSON strings, so that no text can end its entry
 * or begin another. The user's messages have a share of the space of their own: output cannot push them out. Owns:
 * nothing. Loop thread only. */
#ifndef ENGINE_GUARDIAN_REQUEST_H
#define ENGINE_GUARDIAN_REQUEST_H

#include "base/buf.h"
#include "protocol/message/message.h"

struct session;
struct settings;
struct tool_call;

/* Fills the action of an event's request, for clients; its parts are in the arena. False: the event is not a request
 * for approval. */
bool guardian_action_of(const struct tool_call *call, enum event_tag tag, const void *body, struct arena *arena,
                        struct guardian_action *ret);

/* Writes the action for the reviewer: the call and its request. */
void guardian_write_action(struct str name, struct str input, enum event_tag tag, const void *body,
                           struct json_writer *w);

/* Writes the reviewer's instructions with the policy in effect. */
void guardian_write_instructions(const struct session *session, struct buf *out);

/* Writes the request's only item. action: JSON; approved: JSON actions that the user approved, comma-separated. */
void guardian_write_item(const struct session *session, const struct settings *settings, struct str action,
                         struct str approved, struct buf *out);

#endif
