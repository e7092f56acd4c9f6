/* exec_rules.h — a session's rules about commands: from *.rules files, added by the user, and approvals for the
 * session. Private to engine/.
 *
 * Files are read when the session is opened. They are in the folder `rules` next to each config.toml that is in
 * effect: the system's, the user's, those of trusted projects. A project's rules can forbid commands or require an
 * approval; they allow nothing unless the user trusts the file by its hash. With a file that has an error the session
 * is not opened, because the file may forbid a command.
 *
 * Owns: the policy, the keys. Borrows: the config. Loop thread only. */
#ifndef ENGINE_EXEC_RULES_H
#define ENGINE_EXEC_RULES_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

struct config;
struct exec_policy;

struct exec_rules {
	/* private */
	struct exec_policy *policy; /* NULL until the files are read */
	VEC(char *) warnings;       /* about files that were read, not reported yet */
	VEC(char *) approved;       /* keys of approvals for the session */
};

typedef void (*exec_rules_warn_fn)(const char *text, void *self);

/* Reads the files. After an error, which names the file, exec_rules_finish frees what was read. */
must_check int exec_rules_read(struct exec_rules *rules, const struct config *config, struct error *err);
/* Returns the policy, and reports the warnings about its files once; on_warning runs during the call. */
const struct exec_policy *exec_rules_get(struct exec_rules *rules, exec_rules_warn_fn on_warning, void *self);
/* Allows commands that begin with these words, in this and in later sessions. If the rule cannot be written to the
 * file, it applies to this session only, and err has the reason. The policy must have been read. */
must_check int exec_rules_amend(struct exec_rules *rules, const struct config *config, const struct str *words,
                                size_t count, struct error *err);

/* Approvals for the session, of a command line or a file, under a key that the tool chooses. */
bool exec_rules_is_approved(const struct exec_rules *rules, struct str key);
void exec_rules_approve(struct exec_rules *rules, struct str key);

void exec_rules_finish(struct exec_rules *rules);

#endif
