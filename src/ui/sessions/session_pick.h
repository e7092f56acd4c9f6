/* session_pick.h — finds the recorded session that the user names or chooses from a list.
 *
 * Blocking; before a loop runs. Owns: nothing; paths are the caller's. Errors: ERR_not_found, ERR_invalid (several). */
#ifndef UI_SESSION_PICK_H
#define UI_SESSION_PICK_H

#include <stdbool.h>

#include "base/error.h"

/* Its id, else its name, else the beginning of one id alone. NULL and err. */
char *session_find(const char *home, const char *word, struct error *err);

struct session_pick {
	const char *home;
	const char *cwd;      /* NULL: of any folder, which is then shown */
	const char *provider; /* NULL: any */
	const char *verb;     /* "resume": what is going to be done with it */
};

/* On a terminal asks which one; elsewhere prints them, the last changed first. *ret_path is NULL if none was chosen. */
must_check int session_pick(const struct session_pick *pick, char **ret_path, struct error *err);

#endif
