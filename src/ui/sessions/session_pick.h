/* session_pick.h — finds the recorded session that the user names or chooses from a list.
 *
 * Blocking; before a loop runs. Owns: nothing; paths are the caller's. Errors: ERR_not_found, ERR_invalid (several). */
#ifndef UI_SESSION_PICK_H
#define UI_SESSION_PICK_H

#include <stdbool.h>

#include "base/error.h"

/* Finds a session by its id, else by its name, else by an unambiguous prefix of an id. NULL and err on failure. */
must_check char *session_find(const char *home, const char *word, struct error *err);

struct session_pick {
	const char *home;
	const char *cwd;      /* NULL: sessions of any folder, which is then shown */
	const char *provider; /* NULL: any provider */
	const char *verb;     /* for example "resume", shown in the prompt */
};

/* On a terminal asks which session to use; elsewhere prints the list, the last changed first. *ret_path is NULL if
 * none was chosen. */
must_check int session_pick(const struct session_pick *pick, char **ret_path, struct error *err);

#endif
