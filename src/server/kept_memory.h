/* kept_memory.h — what a kept session remembers: its last events, and the ids of its last submissions.
 *
 * Events are numbered 1, 2, 3, … without a gap, so the place of one follows from its number. Of ids the digests are
 * kept, because a client chooses how long they are. Owns: copies. Loop thread only. */
#ifndef SERVER_KEPT_MEMORY_H
#define SERVER_KEPT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sha.h"
#include "base/str.h"
#include "base/vec.h"

struct kept_event;

struct kept_events {
	uint64_t first_seq;        /* the oldest event that is kept; last_seq + 1 if all were dropped */
	uint64_t last_seq;         /* the newest event; 0 before the first */
	struct kept_event **slots; /* event number N is in slot N % capacity */
	size_t capacity;
	size_t bytes;
};

void kept_events_init(struct kept_events *events, size_t capacity);
/* Adds an event; the oldest ones are dropped if there are too many, or LIMIT_KEPT_BYTES of them. */
void kept_events_add(struct kept_events *events, struct str line);
/* Returns an event, borrowed until it is dropped; STR_NONE if it is not kept. */
struct str kept_events_get(const struct kept_events *events, uint64_t seq);
/* Drops the oldest event; there must be one. */
void kept_events_drop(struct kept_events *events);
void kept_events_finish(struct kept_events *events);

struct kept_id {
	uint64_t digest[SHA256_SIZE / sizeof(uint64_t)];
};

struct kept_ids {
	VEC(struct kept_id) digests; /* a ring when it is full */
	size_t next;                 /* the oldest item of the ring */
};

/* Returns false if the id is among the last LIMIT_KEPT_IDS; the empty one never is. */
bool kept_ids_record(struct kept_ids *ids, struct str text);
bool kept_ids_has(const struct kept_ids *ids, struct str text);
void kept_ids_finish(struct kept_ids *ids);

#endif
