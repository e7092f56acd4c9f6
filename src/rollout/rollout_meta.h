/* rollout_meta.h — the first line of a rollout: identity and origin of the session.
 *
 * Owns: nothing; decoded texts live in the caller's arena. Any thread. Source: docs/rollouts.md. */
#ifndef ROLLOUT_ROLLOUT_META_H
#define ROLLOUT_ROLLOUT_META_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "protocol/record/enum.h"

struct rollout_meta {
	struct str thread_id;  /* a UUID */
	int64_t started_at_ms; /* Unix time; set for encoding only */
	struct str timestamp;  /* as in the file; set by decoding only */
	struct str cwd;
	struct str originator; /* the front end, such as "codex_exec" */
	struct str cli_version;
	enum session_source source; /* unknown when decoded from a subagent's file */
	bool is_subagent;           /* set by decoding only */
	/* JSON that describes the kind, or STR_NONE; set by decoding only */
	struct str subagent;
	struct str root_thread_id, parent_thread_id; /* encoded for a subagent; otherwise STR_NONE */
	unsigned depth;
	struct str nickname, role;    /* STR_NONE if absent */
	struct str model_provider;    /* the provider's key in the configuration */
	struct str base_instructions; /* STR_NONE: a resume uses the model's */
	struct str forked_from_id;    /* STR_NONE: not a fork */
	struct str git_commit;        /* each is STR_NONE if unknown */
	struct str git_branch;
	struct str git_url;
	struct str dynamic_tools; /* a JSON array; STR_NONE: the client provided no tools */
	/* The format of codex 0.169: */
	/* lines are numbered and items are recorded by item_completed; true for new files */
	bool is_paginated;
	struct str base_rollout_id; /* the file that precedes this one, or STR_NONE */
	uint64_t base_bytes;        /* the number of that file's bytes that belong to this session */
	uint64_t base_ordinal;      /* the number that follows their last line; for encoding only */
};

/* Copies the texts into the arena, except base_instructions, which stay borrowed. */
struct rollout_meta *rollout_meta_copy(const struct rollout_meta *meta, struct arena *arena);
/* Writes the payload of a session_meta line. */
void rollout_meta_encode(const struct rollout_meta *meta, struct json_writer *w);
/* Decodes such a payload; ERR_invalid if it has no usable id. */
must_check int rollout_meta_decode(const struct json *payload, struct arena *arena, struct rollout_meta *ret,
                                   struct error *err);

#endif
