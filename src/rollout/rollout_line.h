/* rollout_line.h — the lines of a rollout: {"timestamp":…,"type":…,"payload":…}.
 *
 * Owns: nothing; results are slices of the line or memory of the caller's arena. Any thread. Source:
 * docs/rollouts.md. */
#ifndef ROLLOUT_ROLLOUT_LINE_H
#define ROLLOUT_ROLLOUT_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
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
	const struct json *payload; /* the payload object */
	bool has_ordinal;
	uint64_t ordinal; /* position in the thread; only in numbered files */
	int64_t at_ms;    /* Unix time when the line was written; 0: unknown */
};

/* Returns the name on the wire; "unknown" for LINE_unknown. */
const char *rollout_line_name(enum rollout_line_type type);

/* Parses a line without its newline. ERR_invalid if it is not a line of a rollout. A line of an unknown kind is
 * LINE_unknown. Items of early 2025, which have no envelope, get the type that they correspond to. */
must_check int rollout_line_parse(struct arena *arena, struct str text, struct rollout_line *ret, struct error *err);

/* Reads the line of an event in the form that this program and codex 0.169 write, up to the event's type; the payload
 * stays unread. False: the line is another one, or has another form. */
bool rollout_line_peek_event(struct str text, struct rollout_line *ret, struct str *ret_event);

/* The payload of a turn_context line: the settings of the turn that follows it. Names are kept as text, since a file
 * may contain a policy of a later version. */
struct rollout_turn {
	struct str turn_id; /* STR_NONE in files before 2026 */
	struct str cwd;
	struct str model;
	struct str approval_policy;    /* JSON of union ask_for_approval */
	struct str approvals_reviewer; /* a word; STR_NONE: the user */
	struct str sandbox_policy;     /* JSON of union sandbox */
	struct str effort;             /* STR_NONE: the model's default */
	struct str summary;
	struct str personality;        /* STR_NONE: the configured one */
	struct str collaboration_mode; /* JSON; STR_NONE if absent */
	struct str environment;        /* JSON of a struct rollout_environment; STR_NONE: this machine */
};

/* The machine on which the commands of a session run: the member `command_environment` of a turn_context. */
struct rollout_environment {
	struct str id, cwd;
	bool is_pending; /* it was selected after the turn, and the model has not read of it */
	struct {
		struct str id, cwd;
	} further[LIMIT_ENVIRONMENT_PLACES - 1]; /* which a call can name instead */
	size_t further_count;
};

void rollout_environment_encode(const struct rollout_environment *environment, struct json_writer *w);
/* Decodes what a file contains, in place or in the arena. ERR_invalid: it is not an id with an absolute folder. */
must_check int rollout_environment_decode(struct str text, struct arena *arena, struct rollout_environment *ret,
                                          struct error *err);

/* Writes the payload of a turn_context line. */
void rollout_turn_encode(const struct rollout_turn *turn, struct json_writer *w);
/* Decodes such a payload; texts are copied into the arena. Fields that are absent or of another type are STR_NONE. */
struct rollout_turn rollout_turn_decode(const struct json *payload, struct arena *arena);

/* The lines of a numbered file, sorted by their numbers, for files that were assembled from copies. A line without a
 * number stays after the line that it followed. Every line is parsed again: such files are rare. */
struct rollout_place {
	uint64_t ordinal;
	size_t seq; /* position in the file */
	struct str text;
	bool has_ordinal;
	enum rollout_line_type type;
	int64_t at_ms;
};

struct rollout_order {
	VEC(struct rollout_place) lines;
	size_t repeated; /* number of duplicates; each line is listed once */
};

void rollout_order_init(struct rollout_order *order, struct str bytes);
void rollout_order_finish(struct rollout_order *order);

#endif
