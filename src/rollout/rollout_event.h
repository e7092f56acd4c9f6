/* rollout_event.h — single event_msg lines. Private to rollout/: rollout_journal.h says which are written when.
 *
 * Owns: nothing. Loop thread. Errors as rollout_writer_append. */
#ifndef ROLLOUT_ROLLOUT_EVENT_H
#define ROLLOUT_ROLLOUT_EVENT_H

#include <stdint.h>

#include "base/json.h"
#include "base/str.h"

struct error;
struct event_msg;
struct rollout_writer;
struct turn_item;

/* Members in front of an event's own. */
struct rollout_note {
	struct str turn_id; /* STR_NONE: left out, as the others are */
	struct str error;   /* JSON */
	int64_t started_at_ms, completed_at_ms;
};
int rollout_event_append(struct rollout_writer *writer, const struct rollout_note *note, const struct event_msg *event,
                         struct error *err);

/* An item as versions of before 2026 tell it; success and nothing if they have no word for it. In a numbered file,
 * where it stands a second time then, without the bytes of images. */
int rollout_event_append_old(struct rollout_writer *writer, const struct turn_item *item, struct error *err);

#endif
