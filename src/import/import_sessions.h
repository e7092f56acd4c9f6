/* import_sessions.h — finds the sessions of Claude Code, ~/.claude/projects/FOLDER/NAME.jsonl, and imports them as
 * sessions of ours. Private to import/.
 *
 * external_agent_session_imports.json in CODEX_HOME, which codex 0.169 has too, lists those that were imported. */
#ifndef IMPORT_IMPORT_SESSIONS_H
#define IMPORT_IMPORT_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "import/import_transcript.h"

struct import_scope;
struct json;

struct import_session {
	const char *path;    /* absolute */
	int64_t modified_ns; /* Unix time of the last change */
	struct str text;     /* of the file, in the arena of import_session_read */
	struct import_transcript transcript;
	const struct json *record; /* of the earlier import, or NULL */
};

struct import_sessions {
	struct import_session *items; /* the last changed one first */
	size_t count, cap;
	const struct json *ledger; /* NULL: nothing was imported */
};

/* Finds all files and what was imported. On an error there are those that were found before it. */
must_check int import_sessions_find(const struct import_scope *scope, struct import_sessions *ret, struct error *err);
void import_sessions_finish(struct import_sessions *sessions);
/* True if it was imported and has not changed since. */
bool import_session_is_done(const struct import_session *session);

/* Reads the file. ERR_invalid: it has no message of the user, or its folder does not exist. */
must_check int import_session_read(const struct import_scope *scope, struct import_session *session,
                                   struct arena *arena, struct error *err);
/* Imports what was read, or what was added since the last import. ret_id: the id of the session. */
must_check int import_session_carry(const struct import_scope *scope, const struct import_session *session,
                                    char ret_id[UUID_TEXT_SIZE], struct error *err);

#endif
