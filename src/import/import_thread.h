/* import_thread.h — writes the messages of another agent as a session of ours. Private to import/. */
#ifndef IMPORT_IMPORT_THREAD_H
#define IMPORT_IMPORT_THREAD_H

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"

struct import_transcript;

struct import_thread {
	const char *codex; /* CODEX_HOME */
	struct str provider;
	struct str text;                            /* the other agent's file */
	const struct import_transcript *transcript; /* what was read from it */
	char id[UUID_TEXT_SIZE]; /* "": a new session; otherwise the session that gets what was added */
};

/* Writes the session and its name, and sets its id. On failure there is no new session. ERR_exists: a session that was
 * continued here gets nothing more. ERR_not_found: there is no session of this id. */
must_check int import_thread_write(struct import_thread *thread, struct error *err);

#endif
