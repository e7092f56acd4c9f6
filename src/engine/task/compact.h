/* compact.h — replaces a conversation by a summary of it. Private to engine/task/.
 *
 * A compaction is a Turn between the Turns of a Task: the model is asked for a summary. The preamble, the user's latest
 * messages and the summary then become the history. Nothing changes before the summary is complete, so a compaction
 * that fails or is interrupted loses no history.
 * Owns: the question and the summary; the caller owns the Turn. Loop thread only. */
#ifndef ENGINE_COMPACT_H
#define ENGINE_COMPACT_H

#include <stdbool.h>

#include "base/error.h"

struct compact;
struct turn;
struct turn_env;

/* True if the history has reached the size at which it is to be compacted. */
bool compact_is_due(const struct turn_env *env);
/* Emits item_started. NULL and err if the configured prompt cannot be read. env is borrowed. */
must_check struct compact *compact_create(struct turn_env *env, struct error *err);
void compact_destroy(struct compact *compact); /* NULL is fine; the history stays as it is */

/* Starts the Turn that asks for the summary, now the caller's; once more after compact_trim. */
must_check struct turn *compact_ask(struct compact *compact);
/* The history exceeds the model's context window: leaves out its oldest items. False: none would be left. */
bool compact_trim(struct compact *compact);
/* The Turn has ended: replaces the history and emits item_completed. */
void compact_finish(struct compact *compact);

#endif
