/* env_policy.h — builds the environment of child processes, and reads the engine's own.
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

/* The settings of shell_environment_policy, borrowed. An all-zero policy inherits everything except variables of the
 * default excludes. */
struct env_policy {
	enum env_inherit inherit;
	bool ignore_default_excludes; /* true: names like *KEY*, *SECRET* and *TOKEN* are kept */
	const struct str *exclude;    /* case-insensitive patterns for names, with * and ? */
	size_t exclude_count;
	const struct env_var *set; /* added or replaced after exclude; invalid names are skipped */
	size_t set_count;
	const struct str
		*include_only; /* unless empty, removes names that match none of these patterns, even names of `set` */
	size_t include_only_count;
};

struct env {
	char **vars; /* read-only for callers; never NULL after env_init */
	size_t count;
	/* private */
	size_t cap;
};

/* Creates an empty environment. */
void env_init(struct env *env);
void env_finish(struct env *env); /* an all-zero struct is fine */
#define auto_env __attribute__((cleanup(env_finish)))

/* Fills an empty env in four steps: inherit from `from` (NULL: the engine's environment), exclude, set,
 * include_only. */
void env_policy_apply(const struct env_policy *policy, const char *const *from, struct env *env);

/* Variables that the engine adds for every command. */
struct env_engine {
	const char *thread_id; /* CODEX_THREAD_ID, CODEX_SESSION_ID */
	struct str call_id;    /* CODEX_TOOL_CALL_ID; empty: not a call of the model */
	bool network_disabled; /* CODEX_SANDBOX_NETWORK_DISABLED=1 */
	bool plain_terminal;   /* for unified exec: no colours, no pagers, C.UTF-8, CODEX_CI=1 */
};
void env_engine_apply(const struct env_engine *engine, struct env *env);

void env_set(struct env *env, struct str name, struct str value);
void env_unset(struct env *env, struct str name); /* no-op if the variable does not exist */
/* True if name can be the name of a variable. */
bool env_is_name(struct str name);

static inline const char *const *env_vars(const struct env *env)
{
	return (const char *const *)env->vars;
}

/* Returns a variable of the engine's own environment, borrowed, or NULL. */
const char *env_own(const char *name);

#endif
