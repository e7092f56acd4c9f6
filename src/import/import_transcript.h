/* import_transcript.h — a session of Claude Code: a file of JSON lines, one for each message. Private to import/.
 *
 * The file is untrusted: lines that are malformed or unknown are skipped. Messages of subagents and those that the user
 * has not seen are left out. Any thread. */
#ifndef IMPORT_IMPORT_TRANSCRIPT_H
#define IMPORT_IMPORT_TRANSCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct import_message {
	bool is_user; /* otherwise of the agent: its words, calls and their outputs, as text */
	struct str text;
	int64_t at_ms; /* Unix time; 0: unknown */
};

/* Takes the messages in order, beginning with the first one of the user. */
typedef int (*import_message_fn)(const struct import_message *message, void *self, struct error *err);

struct import_transcript {
	struct str cwd;   /* the folder in which the session began; STR_NONE: unknown */
	struct str title; /* STR_NONE: the user has written nothing */
	bool is_named;    /* the title is not just the beginning of the first message */
};

/* Reads the lines; take may be NULL. Texts of *ret are in the arena. An error is one of take. */
must_check int import_transcript_read(struct str text, import_message_fn take, void *self, struct arena *arena,
                                      struct import_transcript *ret, struct error *err);

#endif
