/* Flags are given to config/ as flags, so that one rule of precedence holds for everything and an error
 * names the option that caused it. */
#include "ui/exec/exec_config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/model_provider.h"

enum { FLAGS_MAX = 8 };

/* Lists the settings that the run's flags set; an error names the flag that caused it. */
static size_t list_flags(const struct exec_options *options, struct config_flag flags[FLAGS_MAX])
{
	size_t count = 0;
	if (options->model)
		flags[count++] = (struct config_flag){"--model", "model", str_of(options->model)};
	if (options->bypass)
		flags[count++] = (struct config_flag){"--dangerously-bypass-approvals-and-sandbox", "sandbox_mode",
		                                      STR("danger-full-access")};
	else if (options->sandbox)
		flags[count++] = (struct config_flag){"--sandbox", "sandbox_mode", str_of(options->sandbox)};
	else if (options->full_auto)
		flags[count++] = (struct config_flag){"--full-auto", "sandbox_mode", STR("workspace-write")};
	if (options->plan)
		flags[count++] = (struct config_flag){"--plan", "collaboration_mode", STR("plan")};
	if (options->local_provider)
		flags[count++] =
			(struct config_flag){"--local-provider", "oss_provider", str_of(options->local_provider)};
	return count;
}

struct overrides {
	VEC(struct str) list;
	VEC(char *) owned;
};

static void add_features(struct overrides *overrides, const struct cli_list *names, const char *value)
{
	for (size_t i = 0; i < names->count; i++) {
		char *text = xasprintf("features.%s=%s", names->items[i], value);
		vec_push(&overrides->owned, text);
		vec_push(&overrides->list, str_of(text));
	}
}

static struct config *load(const struct exec_options *options, const char *cwd, const struct overrides *overrides,
                           const char *oss_provider, struct error *err)
{
	struct config_flag flags[FLAGS_MAX];
	size_t count = list_flags(options, flags);
	if (oss_provider)
		flags[count++] = (struct config_flag){"--oss", "model_provider", str_of(oss_provider)};
	struct config_source source = {
		.cwd = cwd,
		.profile = options->profile,
		.overrides = overrides->list.items,
		.override_count = overrides->list.count,
		.flags = flags,
		.flag_count = count,
		.ignore_user_config = options->ignore_user_config,
	};
	return config_load(&source, err);
}

/* Which local server --oss means may stand in the configuration itself, so it is read first. */
static struct config *load_oss(const struct exec_options *options, const char *cwd, const struct overrides *overrides,
                               struct error *err)
{
	struct config *first = load(options, cwd, overrides, NULL, err);
	if (!first)
		return NULL;
	struct config *config = load(options, cwd, overrides, model_provider_oss_id(first), err);
	config_unref(first);
	return config;
}

int exec_config_load(const struct exec_options *options, const char *cwd, struct config **ret_config, struct error *err)
{
	struct overrides overrides = {0};
	for (size_t i = 0; i < options->overrides.count; i++)
		vec_push(&overrides.list, str_of(options->overrides.items[i]));
	add_features(&overrides, &options->enable, "true");
	add_features(&overrides, &options->disable, "false");
	*ret_config =
		options->oss ? load_oss(options, cwd, &overrides, err) : load(options, cwd, &overrides, NULL, err);
	vec_for_each(text, &overrides.owned)
		free(*text);
	vec_finish(&overrides.owned);
	vec_finish(&overrides.list);
	return *ret_config ? 0 : -(int)err->code;
}

static void warn(const char *option, const char *because)
{
	fprintf(stderr, "warning: %s has no effect %s\n", option, because);
}

/* A policy of config.toml is for the other front ends too and gets no warning. */
static bool requests_approvals(const struct exec_options *options, const struct config *config)
{
	bool is_set = false;
	for (size_t i = 0; i < options->overrides.count; i++) {
		struct str key, rest = str_of(options->overrides.items[i]);
		str_next_part(&rest, '=', &key);
		is_set = is_set || str_is(str_trim(key), "approval_policy");
	}
	return is_set && config->approval_policy->tag != ask_for_approval_never;
}

void exec_config_warn(const struct exec_options *options, const struct config *config)
{
	static const char bypass[] = "beside --dangerously-bypass-approvals-and-sandbox";
	if (options->bypass && options->sandbox)
		warn("--sandbox", bypass);
	if (options->full_auto && (options->bypass || options->sandbox))
		warn("--full-auto", options->bypass ? bypass : "beside --sandbox");
	if (options->add_dirs.count && config->sandbox_mode == sandbox_mode_read_only)
		warn("--add-dir", "in a read-only sandbox; add --sandbox workspace-write");
	if (options->local_provider && !options->oss)
		warn("--local-provider", "without --oss");
	if (requests_approvals(options, config))
		fputs("warning: approval_policy is ignored: exec never asks\n", stderr);
}

static void add_root(struct exec_sandbox *sandbox, const char *dir)
{
	char *full = realpath(dir, NULL);
	if (!full) /* it may be created later; the sandbox reports it if it is needed before */
		full = xstrdup(dir);
	vec_push(&sandbox->owned, full);
	vec_push(&sandbox->roots, str_of(full));
}

void exec_config_sandbox(const struct exec_options *options, const struct config *config, struct exec_sandbox *sandbox)
{
	const struct config_sandbox *details = &config->sandbox_workspace_write;
	*sandbox = (struct exec_sandbox){0};
	if (config->sandbox_mode == sandbox_mode_danger_full_access) {
		sandbox->sandbox.tag = sandbox_danger_full_access;
		return;
	}
	if (config->sandbox_mode != sandbox_mode_workspace_write) {
		sandbox->sandbox.tag = sandbox_read_only;
		return;
	}
	for (size_t i = 0; i < details->writable_roots.count; i++)
		vec_push(&sandbox->roots, details->writable_roots.items[i]);
	for (size_t i = 0; i < options->add_dirs.count; i++)
		add_root(sandbox, options->add_dirs.items[i]);
	sandbox->workspace = (struct workspace_write){
		.writable_roots = sandbox->roots.items,
		.writable_roots_count = sandbox->roots.count,
		.network_access = details->network_access,
		.exclude_tmpdir_env_var = details->exclude_tmpdir_env_var,
		.exclude_slash_tmp = details->exclude_slash_tmp,
	};
	sandbox->sandbox = (struct sandbox){.tag = sandbox_workspace_write, .workspace_write = &sandbox->workspace};
}

void exec_sandbox_finish(struct exec_sandbox *sandbox)
{
	vec_for_each(text, &sandbox->owned)
		free(*text);
	vec_finish(&sandbox->owned);
	vec_finish(&sandbox->roots);
}
