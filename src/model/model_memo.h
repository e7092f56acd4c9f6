/* model_memo.h — a history in the form of a wire other than Responses, kept from request to request, so that each
 * request converts only the end of the history. For Responses it has the place up to which nothing is to be converted.
 *
 * A round of the history that another one follows cannot change any more: its converted text is kept. The conversation
 * keeps the memo; requests that borrow the text hold a reference, so that a memo may be replaced while it is being
 * sent. Owns: the converted text, the converted tools and their names. Invariant: text that was kept does not move.
 * Thread: any, one at a time. */
#ifndef MODEL_MODEL_MEMO_H
#define MODEL_MODEL_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "protocol/record/enum.h"

/* The name of a tool on a wire without namespaces. */
struct model_name {
	struct str flat; /* of [A-Za-z0-9_-], at most WIRE_NAME_MAX bytes, unique in the request */
	struct str namespace, name;
};

/* A place in a history: after how many rounds, and where the next one begins. */
struct memo_place {
	size_t rounds, slice, offset;
};

/* A memo is used again for the same history with the same options. */
struct memo_key {
	uint64_t history_id; /* 0: unknown; the memo is not used again */
	enum wire_api wire;
	struct str provider, tools;
	bool has_images, has_thoughts, has_flat_tools;
};

struct memo_block {
	char *bytes;
	size_t len, cap;
};

struct model_memo {
	/* read-only */
	VEC(struct model_name) names;  /* of the tools */
	struct memo_place place;       /* the end of the kept rounds */
	size_t len;                    /* bytes of the kept rounds */
	VEC(struct memo_block) blocks; /* their text */
	/* for the wire */
	struct buf tools;  /* as the wire sends them */
	struct buf system; /* what the first round adds to the system message, if it is kept */
	bool has_comma;    /* the next value needs a comma before it */
	const char *role;  /* of the message that is open at the end of the kept text; NULL: none is */
	size_t marks[2];   /* see messages_wire.c */
	/* private */
	size_t refs;
	struct memo_key key; /* its text is in the arena */
	VEC(struct str) ids; /* a hash table; its size is a power of two */
	size_t id_count;
	struct arena arena;
};

/* Returns a reference to the memo in *slot if it has this key and a place in this input, else to a new one, which
 * replaces it. slot may be NULL. */
struct model_memo *model_memo_get(struct model_memo **slot, const struct memo_key *key, const struct str *input,
                                  size_t input_count);
/* Releases a reference; NULL is allowed. */
void model_memo_unref(struct model_memo *memo);

/* Moves the text of a round, which another one follows at this place, to the memo. ERR_limit: the request would be too
 * long. */
must_check int model_memo_keep(struct model_memo *memo, struct buf *round, struct memo_place next, struct error *err);

/* Ids of the calls in the kept rounds. */
bool model_memo_has_id(const struct model_memo *memo, struct str id);
void model_memo_add_id(struct model_memo *memo, struct str id);

#endif
