/* rollout_turn.h — the turn_context line: under what settings the turn that follows it runs.
 *
 * Owns: nothing. Words are kept as words: a file may name a policy of a later version.
 * Any thread. Source: core 10, protocol-v1 5 "Rollout". */
#ifndef ROLLOUT_ROLLOUT_TURN_H
#define ROLLOUT_ROLLOUT_TURN_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"

struct rollout_turn {
	struct str turn_id; /* STR_NONE in files before 2026 */
	struct str cwd;
	struct str model;
	struct str approval_policy; /* JSON: union ask_for_approval */
	struct str sandbox_policy;  /* JSON: union sandbox */
	struct str effort;          /* STR_NONE: the model's default */
	struct str summary;
	struct str personality;        /* STR_NONE: as configured */
	struct str collaboration_mode; /* JSON, STR_NONE if there is none */
};

/* Writes the payload. */
void rollout_turn_encode(const struct rollout_turn *turn, struct json_writer *w);
/* Reads it; everything is copied into the arena. What is absent or of another type is STR_NONE. */
struct rollout_turn rollout_turn_decode(const struct json *payload, struct arena *arena);

#endif
