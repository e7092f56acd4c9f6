/* rollout_event.h — which events a rollout keeps, and in which words.
 *
 * Kept: begin and end of turns, completed items, token counts. Not kept: everything that only shows work
 * in progress, and what the items of the history tell anyway (commands, patches, errors).
 * Owns: nothing. Loop thread. Source: protocol-v1 4 and 5 "Rollout", app-server-wire 20, docs/rollouts.md. */
#ifndef ROLLOUT_ROLLOUT_EVENT_H
#define ROLLOUT_ROLLOUT_EVENT_H

#include "base/str.h"

struct error;
struct event_msg;
struct rollout_writer;

/* Appends the event's line, or lines, if its kind is kept; success and nothing otherwise. turn_id is the
 * id of the Task it belongs to. Errors as rollout_writer_append. */
int rollout_event_append(struct rollout_writer *writer, struct str turn_id, const struct event_msg *event,
                         struct error *err);

#endif
