/* session_pick.h — finds the recorded session that the user names or chooses from a list.
 *
 * Blocking; session_pick before a loop runs, the others on any thread. Owns: nothing; paths are the caller's. Errors:
 * ERR_not_found, ERR_invalid (several). */
#ifndef UI_SESSION_PICK_H
#define UI_SESSION_PICK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"
#include "ui/cli/cli.h"

/* The folder and the configuration that a command without a session of its own checks. */
struct session_place {
	const char *cd; /* the argument of --cd; NULL: the current folder */
	const struct cli_list *overrides;
	bool is_strict; /* --strict-config: the configuration must have no unknown key */
};

/* *ret_folder is the folder of --cd without links, or NULL; the caller's. */
must_check int session_place_check(const struct session_place *place, char **ret_folder, struct error *err);

/* Finds a session by its id, else by its name, else by an unambiguous prefix of an id. NULL and err on failure. */
must_check char *session_find(const char *home, const char *word, struct error *err);

/* Checks the options of a command that asks a server (--remote, or NULL) to do something with a session, which `option`
 * names, and authenticates with the variable token_env, or NULL. */
must_check int session_check_remote(const char *remote, const char *token_env, const char *session, const char *option,
                                    struct error *err);

struct session_pick {
	const char *home;
	const char *cwd;      /* NULL: sessions of any folder, which is then shown */
	const char *provider; /* NULL: any provider */
	const char *verb;     /* for example "resume", shown in the prompt */
	bool archived;        /* the sessions in the archive */
	bool by_start;        /* the last started first, not the last changed */
};

/* On a terminal asks which session to use; elsewhere prints the list, the last changed first. *ret_path is NULL if
 * none was chosen. */
must_check int session_pick(const struct session_pick *pick, char **ret_path, struct error *err);

/* A session as a row of text: its age, its folder if any is listed, its name and first words, without controls. */
struct session_row {
	char *path, *text;
};

struct session_rows {
	VEC(struct session_row) items;
	bool has_more; /* there are older ones */
};

/* Adds at most `most` sessions to empty rows, the last changed first. The caller finishes the rows, also on failure. */
must_check int session_list(const struct session_pick *pick, size_t most, struct session_rows *ret, struct error *err);
void session_rows_finish(struct session_rows *rows);

#endif
