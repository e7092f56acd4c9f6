/* mock_step.h — one step of a scripted reply, parsed from JSON and validated (docs/mock-model.md).
 *
 * Owns nothing: steps live in the caller's arena and borrow from their JSON.
 * Thread: any, one at a time. Errors name the step and the expected value. */
#ifndef SERVER_MOCK_STEP_H
#define SERVER_MOCK_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct arena;
struct json;

enum mock_step_kind {
#define STEP(name, kind, field, max, members, flags) MOCK_STEP_##name,
#include "server/mock/mock_script.def"
	MOCK_STEP_COUNT
};

/* A text of the script; it may contain {i} and {name}, which are replaced when it plays. */
struct mock_text {
	struct str text; /* the text, or the pattern of a fill */
	uint64_t fill;   /* number of bytes to generate from text as a pattern; 0: use text itself */
	bool is_json;    /* written in the script as JSON, not as a string */
};

struct mock_texts {
	const struct mock_text *items;
	size_t count;
};

struct mock_steps {
	const struct mock_step *items;
	size_t count;
};

struct mock_step {
	enum mock_step_kind kind;
	/* text of a message, arguments or input of a call, a body, raw bytes, or the pattern of a fill */
	struct mock_texts texts;
	struct mock_texts content; /* content of a reasoning item; may be empty */
	struct str name;           /* name of a tool or gate */
	struct str call_id;        /* STR_NONE: derived from the item's number, like id */
	struct str id;
	struct str phase;
	struct str encrypted;
	uint64_t count;          /* milliseconds, a status, repetitions or bytes */
	uint64_t chunks;         /* number of deltas of one text; 0: unspecified */
	const struct json *json; /* of an event, item or usage; headers of a status */
	struct mock_steps steps; /* steps of a repeat */
	bool is_reset;           /* for a drop: reset the connection */
};

/* Reads a reply's list of steps. */
must_check int mock_steps_parse(struct arena *arena, const struct json *list, struct mock_steps *ret,
                                struct error *err);
/* Checks that "headers" is an object of strings that can be sent as header lines. */
must_check int mock_headers_check(const struct json *headers, struct error *err);
/* True if there is a step of that kind, possibly inside a repeat. */
bool mock_steps_has(const struct mock_steps *steps, enum mock_step_kind kind);
/* True if response.created precedes this step. */
bool mock_step_is_start(enum mock_step_kind kind);

#endif
