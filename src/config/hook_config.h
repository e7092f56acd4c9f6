/* hook_config.h — the hooks of a configuration: commands that the user, a project or the administrator runs on events.
 *
 * They come from [hooks] of each layer, from hooks.json in the folder of each layer, and from requirements.toml. A hook
 * runs only if it is usable: the administrator's always are; others need a trusted hash in [hooks.state] of a layer
 * that no project can write. The hash covers the definition that was read, which is the one that runs.
 * Owns: all strings. Loop thread only. */
#ifndef CONFIG_HOOK_CONFIG_H
#define CONFIG_HOOK_CONFIG_H

#include "config/hook_table.h"

struct config;

struct hook_problem {
	const char *path, *message;
};

struct hook_config {
	struct hook_list list;
	VEC(struct hook_problem) errors; /* files that cannot be read */
};

/* Reads the hooks of a configuration. Never fails: files and hooks that cannot be used are reported in warnings and
 * errors. */
void hook_config_init(struct hook_config *hooks, const struct config *config);
void hook_config_finish(struct hook_config *hooks);

#endif
