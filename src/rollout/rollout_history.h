/* rollout_history.h — from the lines of a session to the history that the model is sent.
 * Works on a reader's records. Source: core 10 (rollback, compaction) and 11 (what compaction keeps). */
#ifndef ROLLOUT_ROLLOUT_HISTORY_H
#define ROLLOUT_ROLLOUT_HISTORY_H

#include <stdint.h>

struct rollout_reader;

/* Takes the last `turns` turns, with what set the scene for them, out of the records. */
void rollout_history_roll_back(struct rollout_reader *reader, uint64_t turns);
/* Fills history, turn and needs_context from the records. */
void rollout_history_build(struct rollout_reader *reader);

#endif
