/* environment_docs.h — the AGENTS.md files of a Session's environment, read through its exec-server.
 *
 * They are searched as on this machine (workspace/agents_md.h): one per folder, from the root of the project down to
 * the folder of the Session. They are read once for each environment that is selected, before the next submission is
 * carried out. If they cannot be read, or not within the time to connect to the environment, the user is warned, and
 * the Session continues without them.
 *
 * Owns: the link while it reads, the text, the paths. Loop thread only. Private to engine/. */
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
/* Returns the number of those of the settings' environment; 0: it is this machine; `known` while they are not read. */
uint64_t environment_docs_number(const struct session *session, const struct settings *settings, uint64_t known);
/* True while the first ones are read, before which the Session is not announced. */
bool environment_docs_are_first(const struct session *session);
/* Appends those of the settings' environment; no-op if these are not known. Sets *ret_is_cut if their limit has cut
 * them. */
void environment_docs_append(const struct session *session, const struct settings *settings, struct buf *out,
                             bool *ret_is_cut);
/* Returns the number of files and their paths, borrowed until the Session selects another environment. */
size_t environment_docs_paths(const struct session *session, const struct str **ret);
void environment_docs_destroy(struct environment_docs *docs);

#endif
