/* exec_config.h — the configuration of a run: files, then -c, then flags; and the sandbox that follow. */
#ifndef UI_EXEC_CONFIG_H
#define UI_EXEC_CONFIG_H

#include "base/error.h"
#include "base/vec.h"
#include "protocol/record/types.h"
#include "ui/exec/exec_options.h"

struct config;

/* Precedence is config.h's. ret_config is the caller's. */
must_check int exec_config_load(const struct exec_options *options, const char *cwd, struct config **ret_config,
                                struct error *err);

/* Says on stderr which options have no effect beside others. */
void exec_config_warn(const struct exec_options *options, const struct config *config);

/* The sandbox of the run. Owns the list of roots; borrows the rest from options and config. */
struct exec_sandbox {
	struct sandbox sandbox;
	struct workspace_write workspace;
	VEC(struct str) roots;
	VEC(char *) owned;
};

void exec_config_sandbox(const struct exec_options *options, const struct config *config, struct exec_sandbox *sandbox);
void exec_sandbox_finish(struct exec_sandbox *sandbox);

#endif
