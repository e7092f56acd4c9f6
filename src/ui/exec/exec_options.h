/* exec_options.h — the options of `codex exec`, and the configuration and the sandbox that follow from them. Values are
 * borrowed from argv. */
#ifndef UI_EXEC_OPTIONS_H
#define UI_EXEC_OPTIONS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"
#include "protocol/record/types.h"
#include "ui/cli/cli.h"

struct config;

struct exec_options {
	struct cli_list overrides, enable, disable, images, add_dirs;
	const char *model, *local_provider, *profile, *sandbox, *cwd, *output_schema, *color, *last_message_file,
		*thread_source, *program, *asked_approval, *permissions; /* permissions: of `codex sandbox` */
	bool oss, full_auto, approve_for_me, bypass, skip_git_check, ephemeral, ignore_user_config, strict_config,
		trust, ignore_rules, bypass_hook_trust, needs_no_key, json, last, all, plan, worktree, search;
	struct {
		bool uncommitted;
		const char *base, *commit, *title;
	} review;
	/* From positionals: */
	bool is_review; /* of the target that `review` names, else of the one in the prompt */
	bool resume;
	bool forks;            /* continue in a copy of the session */
	bool picks;            /* neither a session nor --last was given: the user chooses from a list */
	const char *resume_id; /* NULL: --last, or chosen from a list */
	bool asks_prompt;      /* ask for the missing prompt on the terminal */
	const char *prompt;    /* NULL: read standard input */
};

extern const struct cli_command exec_command, review_command, resume_command, fork_command;

/* Fills options from argv[1..] for one of these commands. Returns -1 to continue, else the exit status after help or
 * an error was printed. */
must_check int exec_options_read(const struct cli_command *command, struct exec_options *options,
                                 struct cli_result *result, int argc, char **argv);
void exec_options_finish(struct exec_options *options, struct cli_result *result);

/* As errors and warnings name the option. */
#define EXEC_BYPASS "--dangerously-bypass-approvals-and-sandbox"

/* Checks options that exclude each other, in every command that has them. */
must_check int exec_options_check(const struct exec_options *options, struct error *err);

/* ---- the configuration ---- */

/* Loads the configuration of a run in cwd: files, then -c, then options, with the precedence of config.h. *ret_config
 * is the caller's reference. */
must_check int exec_config_load(const struct exec_options *options, const char *cwd, struct config **ret_config,
                                struct error *err);

/* Warns on stderr of options that have no effect beside others. */
void exec_config_warn(const struct exec_options *options, const struct config *config);

/* The sandbox of the run. Owns the list of roots; borrows the other data from options and config. */
struct exec_sandbox {
	struct sandbox sandbox;
	struct workspace_write workspace;
	VEC(struct str) roots;
	VEC(char *) owned;
};

void exec_config_sandbox(const struct exec_options *options, const struct config *config, struct exec_sandbox *sandbox);
void exec_sandbox_finish(struct exec_sandbox *sandbox);

#endif
