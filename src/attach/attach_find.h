/* attach_find.h — the running sessions that can be attached: their sockets below a home.
 *
 * Blocks for at most ATTACH_PROBE_MS for each socket. Any thread. */
#ifndef ATTACH_ATTACH_FIND_H
#define ATTACH_ATTACH_FIND_H

#include "attach/attach_frame.h"
#include "base/vec.h"

#define ATTACH_FOLDER "attach"

enum { ATTACH_PROBE_MS = 2000 };

struct attach_found {
	char *path; /* of the socket */
	struct attach_greeting greeting;
};

struct attach_list {
	VEC(struct attach_found) items; /* the newest first */
	struct arena arena;
};

/* Returns the path of a session's socket, owned by the caller. */
char *attach_path(const char *home, struct str session_id);

/* Lists the sessions that answer, and removes the sockets of those that have ended. */
void attach_list_read(const char *home, struct attach_list *ret);
void attach_list_finish(struct attach_list *list);
/* Returns the one session that the word names: an id, a prefix of one, or a name. NULL and err: none or several. */
must_check const struct attach_found *attach_list_find(const struct attach_list *list, const char *word,
                                                       struct error *err);

#endif
