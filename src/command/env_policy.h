/* env_policy.h — the environment of child processes, and the only access to that of the engine.
 *
 * struct env owns its "NAME=value" strings; vars always ends with NULL and can be passed to execve. Thread: any,
 * while no thread calls setenv. No function fails. docs/config.md describes shell_environment_policy. */
#ifndef COMMAND_ENV_POLICY_H
#define COMMAND_ENV_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "protocol/record/enum.h"

struct env_var {
	struct str name, value;
};

/* Borrowed lists; an all-zero policy inherits everything except the default excludes. */
struct env_policy {
	enum env_inherit inherit;
	bool ignore_default_excludes; /* true: names like *KEY*, *SECRET* and *TOKEN* stay */
	const struct str *exclude;    /* globs over names: * and ?, case-insensitive */
	size_t exclude_count;
	const struct env_var *set; /* added or replaced after the excludes; invalid names are skipped */
	size_t set_count;
	const struct str
		*include_only; /* if any: removes names that match none of these globs, including those of `set` */
	size_t include_only_count;
};

struct env {
	char **vars; /* read-only outside; never NULL after env_init */
	size_t count;
	/* private */
	size_t cap;
};

/* Makes an empty environment. */
void env_init(struct env *env);
void env_finish(struct env *env); /* an all-zero struct is fine */
#define auto_env __attribute__((cleanup(env_finish)))

/* Fills an empty env: inherit from `from` (NULL: the engine's environment), exclude, set, include_only. */
void env_policy_apply(const struct env_policy *policy, const char *const *from, struct env *env);

/* Variables that the engine adds for every command. */
struct env_engine {
	const char *thread_id; /* CODEX_THREAD_ID */
	bool network_disabled; /* CODEX_SANDBOX_NETWORK_DISABLED=1 */
	bool plain_terminal;   /* unified exec: no colours, no pagers, C.UTF-8, CODEX_CI=1 */
};
void env_engine_apply(const struct env_engine *engine, struct env *env);

void env_set(struct env *env, struct str name, struct str value);
void env_unset(struct env *env, struct str name); /* no-op if it does not exist */
/* True if an environment can hold the name. */
bool env_is_name(struct str name);

static inline const char *const *env_vars(const struct env *env)
{
	return (const char *const *)env->vars;
}

/* A variable of the engine's own environment, or NULL; borrowed. */
const char *env_own(const char *name);

#endif
