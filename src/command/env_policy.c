/* Lists are short (a few dozen variables, a few patterns), so each step walks over the vector once, in this order:
 * inherit, exclude, set, include_only. */
#include "command/env_policy.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"

static const struct str core_names[] = {STR("HOME"), STR("LOGNAME"),  STR("PATH"),   STR("SHELL"),
                                        STR("USER"), STR("USERNAME"), STR("TMPDIR"), STR("TEMP"),
                                        STR("TMP"),  STR("LANG"),     STR("LC_ALL"), STR("LC_CTYPE")};
static const struct str default_excludes[] = {STR("*KEY*"), STR("*SECRET*"), STR("*TOKEN*")};

/* Variables for a command without a terminal: programs should neither draw nor wait for a key. */
static const struct env_var plain_terminal[] = {
	{STR("NO_COLOR"), STR("1")},       {STR("TERM"), STR("dumb")},      {STR("LANG"), STR("C.UTF-8")},
	{STR("LC_CTYPE"), STR("C.UTF-8")}, {STR("LC_ALL"), STR("C.UTF-8")}, {STR("COLORTERM"), STR("")},
	{STR("PAGER"), STR("cat")},        {STR("GIT_PAGER"), STR("cat")},  {STR("GH_PAGER"), STR("cat")},
	{STR("CODEX_CI"), STR("1")},
};

static bool matches_any(struct str name, const struct str *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t steps = SIZE_MAX; /* no limit, because names and patterns are short */
		if (glob_match(patterns[i], name, GLOB_NAME, &steps))
			return true;
	}
	return false;
}

static struct str name_of(const char *var)
{
	const char *equals = strchr(var, '=');
	return equals ? str_n(var, (size_t)(equals - var)) : str_of(var);
}

/* A name with other characters would be read back as a different variable. */
bool env_is_name(struct str name)
{
	return name.len && str_find_char(name, '=') < 0 && str_find_char(name, '\0') < 0;
}

static bool is_core(struct str name)
{
	for (size_t i = 0; i < countof(core_names); i++) {
		if (str_eq(core_names[i], name))
			return true;
	}
	return false;
}

void env_init(struct env *env)
{
	*env = (struct env){.cap = 64};
	env->vars = xcalloc(env->cap, sizeof(*env->vars));
}

void env_finish(struct env *env)
{
	for (size_t i = 0; i < env->count; i++)
		free(env->vars[i]);
	free(env->vars);
	*env = (struct env){0};
}

static void push(struct env *env, char *var)
{
	if (env->count + 1 >= env->cap) {
		env->cap *= 2;
		env->vars = xrealloc(env->vars, env->cap * sizeof(*env->vars));
	}
	env->vars[env->count++] = var;
	env->vars[env->count] = NULL;
}

static size_t index_of(const struct env *env, struct str name)
{
	size_t i = 0;
	while (i < env->count && !str_eq(name_of(env->vars[i]), name))
		i++;
	return i;
}

void env_set(struct env *env, struct str name, struct str value)
{
	char *var = xmalloc(name.len + value.len + 2);
	memcpy(var, name.ptr, name.len);
	var[name.len] = '=';
	if (value.len)
		memcpy(var + name.len + 1, value.ptr, value.len);
	var[name.len + 1 + value.len] = '\0';
	size_t at = index_of(env, name);
	if (at == env->count) {
		push(env, var);
		return;
	}
	free(env->vars[at]);
	env->vars[at] = var;
}

void env_unset(struct env *env, struct str name)
{
	size_t at = index_of(env, name);
	if (at == env->count)
		return;
	free(env->vars[at]);
	env->vars[at] = env->vars[--env->count];
	env->vars[env->count] = NULL;
}

static bool is_inherited(const struct env_policy *policy, struct str name)
{
	if (policy->inherit == env_inherit_none || (policy->inherit == env_inherit_core && !is_core(name)))
		return false;
	if (!policy->ignore_default_excludes && matches_any(name, default_excludes, countof(default_excludes)))
		return false;
	return !matches_any(name, policy->exclude, policy->exclude_count);
}

static void keep_only(const struct env_policy *policy, struct env *env)
{
	size_t kept = 0;
	for (size_t i = 0; i < env->count; i++) {
		char *var = env->vars[i];
		if (matches_any(name_of(var), policy->include_only, policy->include_only_count))
			env->vars[kept++] = var;
		else
			free(var);
	}
	env->count = kept;
	env->vars[kept] = NULL;
}

void env_policy_apply(const struct env_policy *policy, const char *const *from, struct env *env)
{
	if (!from)
		from = (const char *const *)environ;
	for (size_t i = 0; from && from[i]; i++) {
		if (strchr(from[i], '=') && is_inherited(policy, name_of(from[i])))
			push(env, xstrdup(from[i]));
	}
	for (size_t i = 0; i < policy->set_count; i++) {
		if (env_is_name(policy->set[i].name) && str_find_char(policy->set[i].value, '\0') < 0)
			env_set(env, policy->set[i].name, policy->set[i].value);
	}
	if (policy->include_only_count)
		keep_only(policy, env);
}

void env_engine_apply(const struct env_engine *engine, struct env *env)
{
	for (size_t i = 0; engine->plain_terminal && i < countof(plain_terminal); i++)
		env_set(env, plain_terminal[i].name, plain_terminal[i].value);
	if (engine->network_disabled)
		env_set(env, STR("CODEX_SANDBOX_NETWORK_DISABLED"), STR("1"));
	if (engine->call_id.len && engine->call_id.len <= LIMIT_ENV_CALL_ID && str_find_char(engine->call_id, '\0') < 0)
		env_set(env, STR("CODEX_TOOL_CALL_ID"), engine->call_id);
	if (!engine->thread_id)
		return;
	env_set(env, STR("CODEX_THREAD_ID"), str_of(engine->thread_id));
	env_set(env, STR("CODEX_SESSION_ID"), str_of(engine->thread_id));
	env_set(env, STR("CODEX_VERSION"), STR(CODEX_VERSION));
}

const char *env_own(const char *name)
{
	return getenv(name);
}
