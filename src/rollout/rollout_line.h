/* rollout_line.h — one line of a rollout: {"timestamp":…,"type":…,"payload":…}.
 *
 * Owns: nothing; what it returns are slices of the line or memory of the caller's arena. Any thread.
 * Source: core 10, app-server-wire 20, docs/rollouts.md. */
#ifndef ROLLOUT_ROLLOUT_LINE_H
#define ROLLOUT_ROLLOUT_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"

enum rollout_line_type {
#define LINE(name, doc) LINE_##name,
#include "rollout/rollout_line.def"
#undef LINE
	LINE_count,
	LINE_unknown = LINE_count
};

struct rollout_line {
	enum rollout_line_type type;
	const struct json *payload; /* an object */
	bool has_ordinal;
	uint64_t ordinal; /* 0.169's position in the thread */
	int64_t at_ms;    /* when it was written, Unix; 0: nobody knows */
};

/* The word on the wire; "unknown" for LINE_unknown. */
const char *rollout_line_name(enum rollout_line_type type);

/* Reads one line without its newline. ERR_invalid if it is none. A line of a kind that has no row is
 * fine and LINE_unknown. The bare items of early 2025, which had no envelope, get the type they stand for. */
must_check int rollout_line_parse(struct arena *arena, struct str text, struct rollout_line *ret, struct error *err);

/* The payload of a turn_context line: the settings of the turn that follows it. Words are kept as words, since a file
 * may name a policy of a later version. */
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

/* The lines of a numbered file in the order of their numbers, for files that were put together from copies. A line
 * without a number follows the line that it followed. Every line is parsed again: such files are rare. */
struct rollout_place {
	uint64_t ordinal;
	size_t seq; /* where it stood */
	struct str text;
	bool has_ordinal;
	enum rollout_line_type type;
	int64_t at_ms;
};

struct rollout_order {
	VEC(struct rollout_place) lines;
	size_t repeated; /* lines that stood there more than once, and are listed once */
};

void rollout_order_init(struct rollout_order *order, struct str bytes);
void rollout_order_finish(struct rollout_order *order);

#endif
