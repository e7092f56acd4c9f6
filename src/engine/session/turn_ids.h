/* turn_ids.h — the ids of a session's turns.
 *
 * A turn has the id of the submission that started it. A client may repeat an id; then the later turn gets one of its
 * own, so that what counts or lasts per turn never takes two turns for one. The events of that turn keep the
 * submission's id outside (`id`) and have the turn's inside (`turn_id`).
 *
 * Zero-initialised. Owns: its storage. Loop thread only. */
#ifndef ENGINE_TURN_IDS_H
#define ENGINE_TURN_IDS_H

#include <stdint.h>

#include "base/str.h"
#include "base/uuid.h"
#include "base/vec.h"

struct turn_renamed {
	char turn[UUID_TEXT_SIZE];
	char *submission;
};

struct turn_ids {
	VEC(uint64_t) used;               /* hashes of the ids of the latest LIMIT_TURN_IDS turns */
	size_t oldest;                    /* of them, once they are that many */
	VEC(struct turn_renamed) renamed; /* the latest, oldest first */
};

/* Returns the id of the turn that the submission starts: borrowed until the next call. */
struct str turn_ids_begin(struct turn_ids *ids, struct str submission);
/* Returns the id of the submission that started the turn; borrowed. */
struct str turn_ids_submission(const struct turn_ids *ids, struct str turn);
/* Returns the id of the latest turn that the submission started; borrowed. */
struct str turn_ids_turn(const struct turn_ids *ids, struct str submission);
void turn_ids_finish(struct turn_ids *ids);

#endif
