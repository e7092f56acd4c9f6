/* place_docs.h — the AGENTS.md files of one environment and folder, read through its exec-server.
 *
 * They are searched as on this machine (workspace/agents_md.h): one per folder, from the root of the project down to
 * the folder. If they cannot be read, or not within the time to connect to the environment, the user is warned, and no
 * file is used.
 *
 * Owns: the link while it reads, the text, the paths. Loop thread only. Private to engine/. */
#ifndef ENGINE_PLACE_DOCS_H
#define ENGINE_PLACE_DOCS_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct environment_place;
struct place_docs;
struct session;
struct str;

/* Called once, later, when all has been read. */
typedef void (*place_docs_fn)(void *self);

/* Starts to read, for a place on another machine. Never NULL; if there is nothing to read, they are not pending. */
struct place_docs *place_docs_create(struct session *session, const struct environment_place *place,
                                     place_docs_fn on_end, void *self);
void place_docs_destroy(struct place_docs *docs);

/* NULL is about this machine, which is never pending. */
bool place_docs_are_about(const struct place_docs *docs, const struct environment_place *place);
bool place_docs_are_pending(const struct place_docs *docs);
/* Appends at most *bytes_left, which it lowers. Sets *ret_is_cut if a limit has cut them. */
void place_docs_append(const struct place_docs *docs, size_t *bytes_left, struct buf *out, bool *ret_is_cut);
/* Returns the number of files and their paths, borrowed. */
size_t place_docs_paths(const struct place_docs *docs, const struct str **ret);

#endif
