/* mock_script.h — the script of the scripted model (docs/mock-model.md).
 *
 * Owns: its text and everything parsed from it, in one arena. Thread: any, one at a time.
 * A script is a sequence of JSON objects, one reply each; lines that start with # are comments. Errors are found when
 * the script is read, not while it plays, and name their line. */
#ifndef SERVER_MOCK_SCRIPT_H
#define SERVER_MOCK_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "server/mock/mock_match.h"
#include "server/mock/mock_step.h"

struct json;

/* A value extracted from the request, for {name} in the reply's texts. */
struct mock_take {
	struct str name;
	struct str from;  /* path of the text that contains it */
	struct str after; /* the value is the word that follows this text */
};

struct mock_takes {
	const struct mock_take *items;
	size_t count;
};

#define MOCK_FOREVER UINT64_MAX

struct mock_reply {
	unsigned line; /* where it starts in the script */
	bool has_when;
	bool is_wire; /* the reply has "wire" steps, so the engine writes no HTTP head */
	struct mock_match when;
	struct mock_match expect;
	struct mock_takes take;
	const struct json *headers; /* an object of strings, or NULL */
	struct mock_steps reply;
	uint64_t times; /* number of requests that it may still answer; MOCK_FOREVER: any */
};

struct mock_script {
	/* read-only */
	struct mock_reply *replies;
	size_t count;
	/* private */
	struct arena arena;
};

/* Copies and parses text. Errors name the line; mock_script_finish is required in any case. */
must_check int mock_script_parse(struct mock_script *script, struct str text, struct error *err);
/* As mock_script_parse, for the content of a file. */
must_check int mock_script_read(struct mock_script *script, const char *path, struct error *err);
void mock_script_finish(struct mock_script *script);

/* Takes the reply for this request and decrements its count: the first one whose "when" matches, else the first one
 * without "when" that is not used up; NULL if no reply is left. */
const struct mock_reply *mock_script_take(struct mock_script *script, const struct mock_request *request);

#endif
