/* The limits of a run: the sandbox of its commands, and warnings about options that do not limit it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/config.h"
#include "ui/exec/exec_options.h"

static void warn(const char *option, const char *because)
{
	fprintf(stderr, "warning: %s has no effect %s\n", option, because);
}

/* True if the run's own options request approvals. A policy in config.toml is meant for other front ends too and
 * causes no warning. */
static bool requests_approvals(const struct exec_options *options, const struct config *config)
{
	bool is_set = options->asked_approval && strcmp(options->asked_approval, "never") != 0;
	if (is_set)
		return true;
	for (size_t i = 0; i < options->overrides.count; i++) {
		struct str key, rest = str_of(options->overrides.items[i]);
		str_next_part(&rest, '=', &key);
		is_set = is_set || str_is(str_trim(key), "approval_policy");
	}
	return is_set && config->approval_policy->tag != ask_for_approval_never;
}

void exec_config_warn(const struct exec_options *options, const struct config *config)
{
	static const char bypass[] = "beside " EXEC_BYPASS;
	if (options->bypass && options->sandbox)
		warn("--sandbox", bypass);
	if (options->full_auto && (options->bypass || options->sandbox))
		warn("--full-auto", options->bypass ? bypass : "beside --sandbox");
	if (options->add_dirs.count && config->sandbox_mode == sandbox_mode_read_only)
		warn("--add-dir", "in a read-only sandbox; add --sandbox workspace-write");
	if (options->local_provider && !options->oss)
		warn("--local-provider", "without --oss");
	if (config->approvals_reviewer == approvals_reviewer_user && requests_approvals(options, config))
		fputs("warning: approval_policy is ignored: exec never requests approval\n", stderr);
}

static void add_root(struct exec_sandbox *sandbox, const char *dir)
{
	char *full = realpath(dir, NULL);
	if (!full) /* the folder may be created later; the sandbox reports it if it is missing when needed */
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
