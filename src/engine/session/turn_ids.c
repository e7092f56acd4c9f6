/* Only hashes of ids are kept: two ids with the same one cost the later turn its name, and nothing else. */
#include "engine/session/turn_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

/* Called once per turn, so that a search from the beginning costs nothing that counts. */
static bool is_used(const struct turn_ids *ids, uint64_t hash)
{
	vec_for_each(it, &ids->used) {
		if (*it == hash)
			return true;
	}
	return false;
}

static void use(struct turn_ids *ids, uint64_t hash)
{
	if (ids->used.count < LIMIT_TURN_IDS) {
		vec_push(&ids->used, hash);
		return;
	}
	ids->used.items[ids->oldest] = hash;
	ids->oldest = (ids->oldest + 1) % LIMIT_TURN_IDS;
}

/* The turns that are forgotten have ended; a background command of one keeps the turn's id in its last events. */
static struct str rename_turn(struct turn_ids *ids, struct str submission)
{
	struct turn_renamed renamed = {.submission = str_dup(submission)};
	uuid_v7(renamed.turn);
	if (ids->renamed.count == LIMIT_TURNS_RENAMED) {
		free(ids->renamed.items[0].submission);
		memmove(ids->renamed.items, ids->renamed.items + 1, (--ids->renamed.count) * sizeof(renamed));
	}
	use(ids, str_hash(str_of(renamed.turn))); /* a client sees it, and may use it */
	vec_push(&ids->renamed, renamed);
	return str_of(ids->renamed.items[ids->renamed.count - 1].turn);
}

/* The first turn of an id keeps it, so that clients that repeat none see no other ids. */
struct str turn_ids_begin(struct turn_ids *ids, struct str submission)
{
	uint64_t hash = str_hash(submission);
	if (is_used(ids, hash))
		return rename_turn(ids, submission);
	use(ids, hash);
	return submission;
}

/* Called for each event: the list is short, and empty unless a client repeats ids. The latest turn is at its end. */
struct str turn_ids_submission(const struct turn_ids *ids, struct str turn)
{
	for (size_t i = ids->renamed.count; i-- > 0;) {
		if (str_is(turn, ids->renamed.items[i].turn))
			return str_of(ids->renamed.items[i].submission);
	}
	return turn;
}

/* Clients may answer under the id of their submission. Requests of its earlier turns have ended, so that of the latest
 * turn is meant. */
struct str turn_ids_turn(const struct turn_ids *ids, struct str submission)
{
	for (size_t i = ids->renamed.count; i-- > 0;) {
		if (str_is(submission, ids->renamed.items[i].submission))
			return str_of(ids->renamed.items[i].turn);
	}
	return submission;
}

void turn_ids_finish(struct turn_ids *ids)
{
	vec_for_each(it, &ids->renamed)
		free(it->submission);
	vec_finish(&ids->renamed);
	vec_finish(&ids->used);
}
