/* rollout_line.h — one line of a rollout: {"timestamp":…,"type":…,"payload":…}.
 *
 * Owns: nothing; what it returns are slices of the line or memory of the caller's arena. Any thread.
 * Source: core 10, app-server-wire 20, docs/rollouts.md. */
#ifndef ROLLOUT_ROLLOUT_LINE_H
#define ROLLOUT_ROLLOUT_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"

struct error;

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
int rollout_line_parse(struct arena *arena, struct str text, struct rollout_line *ret, struct error *err);

#endif
