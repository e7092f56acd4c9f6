/* wire_profile.h — writes events in the version of the protocol that a client expects, including the legacy events.
 *
 * An event of the engine becomes any number of lines. Owns: nothing. One style per client; any thread.
 * wire_profile.def lists the events and fields that versions lack. */
#ifndef SERVER_WIRE_PROFILE_H
#define SERVER_WIRE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "protocol/message/message.h"

struct submission;

struct wire_style {
	enum wire_profile profile;
	bool shows_raw_reasoning; /* show_raw_agent_reasoning of the configuration */
	/* Private: the state of the conversation with this client. */
	bool speaks_default; /* the client sent mode `default`: it knows the modes of February 2026 */
	bool holds_patch;    /* patch_apply_begin is held until the user's decision */
	int64_t sent_tokens; /* the total of the last flat token_count */
};

/* True if a command that needs approval begins after the decision (codex_options.begins_once_allowed), as before
 * September 2025 and in profile doc. */
bool wire_profile_begins_once_allowed(enum wire_profile profile);
/* To be called with each submission of the client before the engine receives it. */
void wire_profile_observe(struct wire_style *style, const struct submission *submission);
/* Writes the event to out, which must be empty, as lines {"id":…,"msg":…}. An event that does not fit is replaced by
 * a warning that names it. */
void wire_profile_write(struct wire_style *style, const struct event *event, struct buf *out);

#endif
