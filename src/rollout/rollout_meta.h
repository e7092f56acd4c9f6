/* rollout_meta.h — the first line of a rollout: whose it is and how it began.
 *
 * Owns: nothing; decoded texts live in the caller's arena. Any thread.
 * Source: core 10, protocol-v1 5 "Rollout", app-server-wire 20. */
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
	int64_t started_at_ms; /* Unix; written, not read back */
	struct str timestamp;  /* read back, as it stands there */
	struct str cwd;
	struct str originator; /* "codex_exec" */
	struct str cli_version;
	enum session_source source;                  /* unknown when read from a subagent's file */
	bool is_subagent;                            /* read only */
	struct str subagent;                         /* read only: what kind, JSON; STR_NONE if it does not say */
	struct str root_thread_id, parent_thread_id; /* written only: of a subagent's file; else STR_NONE */
	unsigned depth;
	struct str nickname;          /* STR_NONE: none */
	struct str model_provider;    /* key in configuration */
	struct str base_instructions; /* STR_NONE: a resume uses the model's own */
	struct str forked_from_id;    /* STR_NONE: not a fork */
	struct str git_commit;        /* STR_NONE each where unknown */
	struct str git_branch;
	struct str git_url;
	struct str dynamic_tools; /* JSON array; STR_NONE: the client provided none */
	/* Files of 0.169's kind: */
	bool is_paginated;          /* lines are numbered, turns are told by item_completed; ours are */
	struct str base_rollout_id; /* STR_NONE, or the file that this one goes on from … */
	uint64_t base_bytes;        /* … how many of its bytes are before this one's first line … */
	uint64_t base_ordinal;      /* … and the number behind the last line of these; written only */
};

/* Writes the payload of the session_meta line. */
void rollout_meta_encode(const struct rollout_meta *meta, struct json_writer *w);
/* Reads it; ERR_invalid if there is no usable id in it. */
must_check int rollout_meta_decode(const struct json *payload, struct arena *arena, struct rollout_meta *ret,
                                   struct error *err);

#endif
