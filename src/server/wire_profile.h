/* wire_profile.h — an event as clients of some date expect it: tags, words, and the twins of item events.
 *
 * One event of the engine may be several lines or none. Owns: nothing. One style a client; any thread.
 * What a date did not have yet is a row of wire_profile.def. Source: protocol-v1 sections 3, 4 and 6. */
#ifndef SERVER_WIRE_PROFILE_H
#define SERVER_WIRE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "protocol/message/event.h"

struct submission;

struct wire_style {
	enum wire_profile profile;
	bool shows_raw_reasoning; /* show_raw_agent_reasoning of the configuration */
	/* private: what this client has said, and what was sent to it */
	bool speaks_default; /* it called a mode `default`: it knows the modes of February 2026 */
	bool holds_patch;    /* patch_apply_begin waits for the user's answer */
	int64_t told_tokens; /* total of the last flat token_count */
};

/* True where a command that is asked about begins after the answer (codex_options.begins_once_allowed), as in the
 * engines before September 2025 and in the design that profile doc follows. */
bool wire_profile_begins_once_allowed(enum wire_profile profile);
/* A submission of this client, before the engine gets it. */
void wire_profile_hear(struct wire_style *style, const struct submission *submission);
/* Appends {"id":…,"msg":…} and a newline for each line that the event is. */
void wire_profile_write(struct wire_style *style, const struct event *event, struct buf *out);
/* The same for a client's queue. out must be empty. An event that does not fit in it is not cut: a warning that names
 * it takes its place. */
void wire_profile_write_whole(struct wire_style *style, const struct event *event, struct buf *out);

#endif
