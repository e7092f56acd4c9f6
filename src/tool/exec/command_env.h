/* command_env.h — the environment of commands by the user's configuration (shell_environment_policy). */
#ifndef TOOL_COMMAND_ENV_H
#define TOOL_COMMAND_ENV_H

struct config_env_policy;
struct env;

/* Fills an empty env. */
void command_env_of_config(const struct config_env_policy *config, struct env *env);

#endif
