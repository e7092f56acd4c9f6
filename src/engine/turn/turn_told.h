/* turn_told.h — what clients have been told of an item while it streams, so that the next attempt of a broken stream
 * does not repeat it. Private to engine/.
 *
 * Owns: a copy of the deltas, up to LIMIT_TOLD; of an item that is longer the rest is repeated. An all-zero struct is
 * empty. */
#ifndef ENGINE_TURN_TOLD_H
#define ENGINE_TURN_TOLD_H

#include "base/buf.h"

struct turn_told {
	/* private */
	struct buf text;
	size_t repeated;   /* how much of the text has come again */
	bool is_repeating; /* and all that has come so far was the same */
};

void turn_told_finish(struct turn_told *told);
/* The stream broke: what comes now may be the same once more. */
void turn_told_again(struct turn_told *told);
/* The end of a delta that has not been emitted yet; the whole of it from the first difference on. Borrowed from text.
 */
struct str turn_told_add(struct turn_told *told, struct str text);

#endif
