/* Here because it is the lowest floor that knows both the configuration and the environment. */
#include "tool/exec/command_env.h"

#include "base/arena.h"
#include "config/config.h"
#include "command/env_policy.h"

void command_env_of_config(const struct config_env_policy *config, struct env *env)
{
	auto_arena struct arena arena = {0};
	struct env_var *set = arena_array(&arena, struct env_var, config->set.count);
	for (size_t i = 0; i < config->set.count; i++)
		set[i] = (struct env_var){config->set.items[i].key, config->set.items[i].value};
	struct env_policy policy = {
		.inherit = config->inherit,
		.ignore_default_excludes = config->ignore_default_excludes,
		.exclude = config->exclude.items,
		.exclude_count = config->exclude.count,
		.set = set,
		.set_count = config->set.count,
		.include_only = config->include_only.items,
		.include_only_count = config->include_only.count,
	};
	env_policy_apply(&policy, NULL, env);
}
