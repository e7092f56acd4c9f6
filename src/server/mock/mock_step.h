/* mock_step.h — one thing that a scripted reply does, read from JSON and checked.
 *
 * Owns nothing: steps live in the caller's arena and borrow from the JSON they were read from.
 * Thread: any, one at a time. Errors name the step and what would be right. Source: docs/mock-model.md. */
#ifndef SERVER_MOCK_STEP_H
#define SERVER_MOCK_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct arena;
struct error;
struct json;

enum mock_step_kind {
#define STEP(name, kind, field, max, members, flags) MOCK_STEP_##name,
#include "server/mock/mock_script.def"
	MOCK_STEP_COUNT
};

/* A text as the script writes it; its final bytes are known when it plays: {i} and taken values may stand in it. */
struct mock_text {
	struct str text; /* the text, or the pattern of a fill */
	uint64_t fill;   /* bytes of pattern to make; 0: text itself */
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
	struct mock_texts texts;   /* of a message, a call's arguments or input, a body, raw bytes; pattern of a fill */
	struct mock_texts content; /* of a reasoning item; empty: none */
	struct str name;           /* of a tool or gate */
	struct str call_id;        /* absent: made from the item's number, as is id */
	struct str id;
	struct str phase;
	struct str encrypted;
	uint64_t count;          /* milliseconds, status, repetitions, bytes */
	uint64_t chunks;         /* deltas to cut one text into; 0: not said */
	const struct json *json; /* event, item, usage; headers of a status */
	struct mock_steps steps; /* of a repeat */
	bool is_reset;           /* of a drop */
};

/* Reads a reply's list of steps. */
int mock_steps_parse(struct arena *arena, const struct json *list, struct mock_steps *ret, struct error *err);
/* What "headers" takes: an object of strings that can be sent as header lines. */
int mock_headers_check(const struct json *headers, struct error *err);
/* True if some step of the kind is there, in a repeat or not. */
bool mock_steps_has(const struct mock_steps *steps, enum mock_step_kind kind);
/* True if response.created goes out before this step. */
bool mock_step_is_start(enum mock_step_kind kind);

#endif
