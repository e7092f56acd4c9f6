/* rollout_event.h — writes single event_msg lines. Private to rollout/: rollout_journal.h lists the events that are
 * written.
 *
 * Owns: nothing. Loop thread. Errors as rollout_writer_append. */
#ifndef ROLLOUT_ROLLOUT_EVENT_H
#define ROLLOUT_ROLLOUT_EVENT_H

#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

struct event_msg;
struct rollout_writer;

/* Members to write before those of the event. Absent ones are omitted. */
struct rollout_note {
	struct str turn_id;
	struct str error; /* JSON */
	int64_t started_at_ms, completed_at_ms;
};
must_check int rollout_event_append(struct rollout_writer *writer, const struct rollout_note *note,
                                    const struct event_msg *event, struct error *err);

/* Appends the legacy events of an item_completed, which versions before 2026 read; an item without any is a success.
 * In a numbered file they lack the data of images, which the item_completed line contains. */
must_check int rollout_event_append_legacy(struct rollout_writer *writer, const struct event_msg *completed,
                                           struct error *err);

#endif
