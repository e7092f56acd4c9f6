/* compact.h — replaces a conversation by a summary of it. Private to engine/task/.
 *
 * A compaction is a turn between the turns of a task: the model is asked for a summary. The preamble, the user's
 * latest messages and the summary then become the history. Nothing changes before the summary is complete, so a
 * compaction that fails or is interrupted loses no history. Owns: the question and the summary; the caller owns the
 * turn. Loop thread only. */
#ifndef ENGINE_COMPACT_H
#define ENGINE_COMPACT_H

#include <stdbool.h>

#include "base/error.h"

struct compact;
struct turn;
struct turn_env;

/* True if the history has reached the size at which it must be compacted. */
bool compact_is_due(const struct turn_env *env);
/* Emits item_started. NULL and err if the configured prompt cannot be read. env is borrowed. */
must_check struct compact *compact_create(struct turn_env *env, struct error *err);
void compact_destroy(struct compact *compact); /* leaves the history unchanged; NULL is fine */

/* Starts the turn that asks for the summary, owned by the caller; called again after compact_trim. */
must_check struct turn *compact_ask(struct compact *compact);
/* To be called if the history exceeds the model's context window: omits its oldest items. False if none would be
 * left. */
bool compact_trim(struct compact *compact);
/* To be called when the turn has ended: replaces the history and emits item_completed. */
void compact_finish(struct compact *compact);

#endif
