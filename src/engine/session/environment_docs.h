/* environment_docs.h — the AGENTS.md files of the machines of a Session.
 *
 * Those of other machines (place_docs.h) are read once for each selection of environments, before the next submission
 * is carried out. project_doc_max_bytes is the limit of all together, in the order of the environments.
 *
 * Owns: those of each place. Loop thread only. Private to engine/. */
#ifndef ENGINE_ENVIRONMENT_DOCS_H
#define ENGINE_ENVIRONMENT_DOCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number while those that the history of a resumed Session has are not known. */
#define DOCS_RESUMED UINT64_MAX

struct buf;
struct environment_docs;
struct session;
struct settings;
struct str;

/* Starts to read them if the Session, which may be NULL, has another environment than before and no Task. True while
 * they are read: no Task may start. Calls session_ops.carry_on at the end. */
bool environment_docs_begin(struct session *session);
bool environment_docs_are_pending(const struct session *session);
/* Returns the number of those of the settings' environments; 0: there is only this machine; `known` while they are not
 * read. */
uint64_t environment_docs_number(const struct session *session, const struct settings *settings, uint64_t known);
/* True while the first ones are read, before which the Session is not announced. */
bool environment_docs_are_first(const struct session *session);
/* The Session is announced without waiting for them. */
void environment_docs_announce(struct session *session);
/* Appends the global file and those of the settings' places, so far as they are known; several places with files are
 * named. Returns the folder that they are about, borrowed; NULL: several. */
const char *environment_docs_read(struct session *session, const struct settings *settings, struct buf *out);
/* Returns the number of files of a place and their paths, borrowed until the Session selects another environment. */
size_t environment_docs_paths(const struct session *session, size_t i, const struct str **ret);
void environment_docs_destroy(struct environment_docs *docs);

#endif
