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
	struct str thread_id;  /* UUID */
	int64_t started_at_ms; /* Unix time; not decoded */
	struct str timestamp;  /* decoded only, unchanged */
	struct str cwd;
	struct str originator; /* "codex_exec" */
	struct str cli_version;
	enum session_source source;                  /* unknown if decoded from a subagent's file */
	bool is_subagent;                            /* decoded only */
	struct str subagent;                         /* decoded only: JSON of its kind; STR_NONE if absent */
	struct str root_thread_id, parent_thread_id; /* encoded only, of a subagent; otherwise STR_NONE */
	unsigned depth;
	struct str nickname;          /* STR_NONE if absent */
	struct str model_provider;    /* key of the configuration */
	struct str base_instructions; /* STR_NONE: a resume uses those of the model */
	struct str forked_from_id;    /* STR_NONE: not a fork */
	struct str git_commit;        /* STR_NONE each if unknown */
	struct str git_branch;
	struct str git_url;
	struct str dynamic_tools; /* JSON array; STR_NONE: the client provided none */
	/* The format of codex 0.169: */
	bool is_paginated;          /* numbered lines, with item_completed for items; true for new files */
	struct str base_rollout_id; /* the file that precedes this one, or STR_NONE … */
	uint64_t base_bytes;        /* … the number of its bytes that belong to this session … */
	uint64_t base_ordinal;      /* … and the number after their last line; encoded only */
};

/* Writes the payload of a session_meta line. */
void rollout_meta_encode(const struct rollout_meta *meta, struct json_writer *w);
/* Decodes the payload; ERR_invalid if it has no usable id. */
must_check int rollout_meta_decode(const struct json *payload, struct arena *arena, struct rollout_meta *ret,
                                   struct error *err);

#endif
