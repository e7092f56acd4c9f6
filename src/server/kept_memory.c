/* A replay is as long as its events are kept; a repetition is found as long as its id is. Both are bounded by number,
 * events by size as well. */
#include "server/kept_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "server/server_limits.h"

/* ---- events ---- */

struct kept_event {
	size_t len;
	char line[];
};

void kept_events_init(struct kept_events *events, size_t capacity)
{
	*events = (struct kept_events){.first_seq = 1, .capacity = capacity};
	events->slots = xcalloc(capacity, sizeof(*events->slots));
}

static struct kept_event **slot_of(const struct kept_events *events, uint64_t seq)
{
	return &events->slots[seq % events->capacity];
}

void kept_events_drop(struct kept_events *events)
{
	struct kept_event **slot = slot_of(events, events->first_seq++);
	events->bytes -= (*slot)->len;
	free(steal(*slot));
}

static size_t count(const struct kept_events *events)
{
	return (size_t)(events->last_seq - events->first_seq + 1);
}

void kept_events_add(struct kept_events *events, struct str line)
{
	while (count(events) && (count(events) == events->capacity || events->bytes + line.len > LIMIT_KEPT_BYTES))
		kept_events_drop(events);
	struct kept_event *event = xmalloc(sizeof(*event) + line.len);
	event->len = line.len;
	memcpy(event->line, line.ptr, line.len);
	events->bytes += line.len;
	*slot_of(events, ++events->last_seq) = event;
}

struct str kept_events_get(const struct kept_events *events, uint64_t seq)
{
	if (seq < events->first_seq || seq > events->last_seq)
		return STR_NONE;
	const struct kept_event *event = *slot_of(events, seq);
	return str_n(event->line, event->len);
}

void kept_events_finish(struct kept_events *events)
{
	while (events->slots && count(events))
		kept_events_drop(events);
	free(steal(events->slots));
}

/* ---- ids ---- */

static bool is_seen(const struct kept_ids *ids, const struct kept_id *id)
{
	vec_for_each(it, &ids->digests) {
		if (it->digest[0] == id->digest[0] && memcmp(it, id, sizeof(*id)) == 0)
			return true;
	}
	return false;
}

bool kept_ids_has(const struct kept_ids *ids, struct str text)
{
	struct kept_id id;
	sha256(text, (uint8_t *)id.digest);
	return text.len && is_seen(ids, &id);
}

/* Returns false if the id was recorded already. Digests are kept, because a client chooses how long its ids are. */
bool kept_ids_record(struct kept_ids *ids, struct str text)
{
	struct kept_id id;
	if (!text.len)
		return true;
	sha256(text, (uint8_t *)id.digest);
	if (is_seen(ids, &id))
		return false;
	if (ids->digests.count < LIMIT_KEPT_IDS) {
		vec_push(&ids->digests, id);
		return true;
	}
	ids->digests.items[ids->next] = id;
	ids->next = (ids->next + 1) % LIMIT_KEPT_IDS;
	return true;
}

void kept_ids_finish(struct kept_ids *ids)
{
	vec_finish(&ids->digests);
}
