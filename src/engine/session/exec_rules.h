/* exec_rules.h — a Session's rules about commands: those of the *.rules files, and those the user adds.
 * Private to engine/.
 *
 * Read when the first command is judged: many sessions never run one. Rules lie in the folder `rules` beside each
 * config.toml that counts: the system's, the user's, those of trusted projects. A project's rules may ask and forbid;
 * they allow nothing unless the user trusts the file by its hash. A file that cannot be used is left out whole, with a
 * warning.
 *
 * Owns: the policy. Borrows: the config. Loop thread only. Source: core 2.4. */
#ifndef ENGINE_EXEC_RULES_H
#define ENGINE_EXEC_RULES_H

#include "base/str.h"
#include "base/vec.h"

struct config;
struct error;
struct exec_policy;

struct exec_rules {
	/* private */
	struct exec_policy *policy; /* NULL until the first command is judged */
	VEC(char *) approved;       /* keys */
};

typedef void (*exec_rules_warn_fn)(const char *text, void *self);

/* The policy, read now if it was not yet; on_warning runs during the call. */
const struct exec_policy *exec_rules_get(struct exec_rules *rules, const struct config *config,
                                         exec_rules_warn_fn on_warning, void *self);
/* Allows what begins with these words, from now on and in later sessions. If it cannot be written down, err says so and
 * it counts for this session alone. */
int exec_rules_amend(struct exec_rules *rules, const struct config *config, const struct str *words, size_t count,
                     struct error *err);

/* What the user has approved for the session: a command line or a file, by a key of the tool's choice. */
bool exec_rules_is_approved(const struct exec_rules *rules, struct str key);
void exec_rules_approve(struct exec_rules *rules, struct str key);

void exec_rules_finish(struct exec_rules *rules);

#endif
