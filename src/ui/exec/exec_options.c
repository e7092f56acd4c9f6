/* `resume` has no options of its own: every option means the same before and after it, as clients that build command
 * lines expect. Options are given to config/ as flags, so that one rule of precedence holds for everything and an error
 * names the option that caused it. */
#include "ui/exec/exec_options.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/toml/toml_edit.h"
#include "config/model_provider.h"
#include "ui/cli/features_command.h"
#include "ui/exec/exec_oss.h"

/* Options of the terminal, which command lines put before the command: no approval is asked for. */
#define ROOT_OPTIONS                                    \
	{"ask-for-approval",                            \
	 'a',                                           \
	 CLI_TEXT,                                      \
	 offsetof(struct exec_options, asked_approval), \
	 "WHEN",                                        \
	 "untrusted|on-failure|on-request|never",       \
	 NULL},

static const struct cli_option exec_rows[] = {
#define SESSION_OPTION(kind, field, name, letter, value, choices, doc, session_doc) \
	OPTION(kind, field, name, letter, value, choices, doc)
#define OPTION(kind, field, name, letter, value, choices, doc) \
	{name, letter, kind, offsetof(struct exec_options, field), value, choices, doc},
#define EXEC_OPTION OPTION
#define REVIEW_OPTION(kind, field, name, letter, value, choices, doc, review_doc) \
	OPTION(kind, field, name, letter, value, choices, doc)
#include "ui/exec/exec_option.def"
#undef EXEC_OPTION
#undef REVIEW_OPTION
#undef SESSION_OPTION
	ROOT_OPTIONS};

static const struct cli_option review_rows[] = {
#define SESSION_OPTION(kind, field, name, letter, value, choices, doc, session_doc) \
	OPTION(kind, field, name, letter, value, choices, NULL)
#define EXEC_OPTION(kind, field, name, letter, value, choices, doc) \
	OPTION(kind, field, name, letter, value, choices, NULL)
#define REVIEW_OPTION(kind, field, name, letter, value, choices, doc, review_doc) \
	OPTION(kind, field, name, letter, value, choices, review_doc)
#include "ui/exec/exec_option.def"
#undef EXEC_OPTION
#undef REVIEW_OPTION
#undef SESSION_OPTION
#define SESSION_OPTION(kind, field, name, letter, value, choices, doc, session_doc) \
	OPTION(kind, field, name, letter, value, choices, session_doc)
	ROOT_OPTIONS};

/* Options of `codex resume` and `codex fork`. */
static const struct cli_option session_rows[] = {
#define EXEC_OPTION OPTION
#define REVIEW_OPTION(kind, field, name, letter, value, choices, doc, review_doc) \
	OPTION(kind, field, name, letter, value, choices, NULL)
#include "ui/exec/exec_option.def"
#undef EXEC_OPTION
#undef REVIEW_OPTION
#undef SESSION_OPTION
#undef OPTION
};

static const struct cli_word exec_words[] = {
	{.word = "resume", .doc = "Continue a recorded session: an id, a name, or --last"},
	{.word = "review", .doc = "Review code and print the findings"},
	{.word = "fork", .doc = "Continue in a copy of a recorded session"},
};

static const struct cli_argument exec_arguments[] = {
	{.name = "[PROMPT]",
         .doc = "The task. Read from standard input if absent or \"-\"; if there is a prompt as well, standard "
                "input is appended to it as a <stdin> block."},
};

static const char exec_details[] = "Examples:\n"
				   "  codex exec \"make the failing test pass\" --sandbox workspace-write\n"
				   "  git diff | codex exec \"review this change\" -o review.txt\n"
				   "  codex exec --json \"list the exported functions\" | jq .\n"
				   "  codex exec resume --last \"now write a test for it\"\n"
				   "\n"
				   "The id of a session is in the banner, and in thread.started of --json.\n";

const struct cli_command exec_command = {
	.name = "codex exec",
	.about = "Run one task without approvals, and print the answer. Everything else goes to standard error.",
	.usage = "Usage: codex exec [OPTIONS] [PROMPT]\n"
		 "       codex exec [OPTIONS] resume|fork <SESSION | --last> [PROMPT]\n"
		 "       codex exec [OPTIONS] review <--uncommitted | --base BRANCH |\n"
		 "                                    --commit SHA | PROMPT>",
	.details = exec_details,
	.words = exec_words,
	.word_count = countof(exec_words),
	.arguments = exec_arguments,
	.argument_count = countof(exec_arguments),
	.options = exec_rows,
	.option_count = countof(exec_rows),
	.most_positionals = 2,
};

static const struct cli_argument review_arguments[] = {
	{.name = "[PROMPT]", .doc = "Instructions for the review. Read from standard input if \"-\""},
};

static const char review_details[] = "Examples:\n"
				     "  codex review --uncommitted\n"
				     "  codex review --base main -o review.txt\n"
				     "  codex review \"is the locking in src/cache.c sound?\"\n"
				     "\n"
				     "The reviewer changes nothing. `review_model` in config.toml names its model.\n";

const struct cli_command review_command = {
	.name = "codex review",
	.about = "Review code. The findings go to standard output.",
	.usage = "Usage: codex review [OPTIONS] <--uncommitted | --base BRANCH | --commit SHA |\n"
		 "                               PROMPT>",
	.details = review_details,
	.arguments = review_arguments,
	.argument_count = countof(review_arguments),
	.options = review_rows,
	.option_count = countof(review_rows),
	.most_positionals = 1,
};

static const struct cli_argument session_arguments[] = {
	{.name = "[SESSION]",
         .doc = "An id, a unique prefix of one, or a name. Without it and without --last the sessions are listed: "
                "on a terminal you can choose one, elsewhere they are printed as a table."},
	{.name = "[PROMPT]",
         .doc = "The next task. If absent, it is asked for on a terminal, else read from standard input"},
};

/* Their help is that of the terminal (ui/tui), which passes on what runs without one. */
const struct cli_command resume_command = {
	.name = "codex resume",
	.about = "Continue a recorded session.",
	.usage = "Usage: codex resume [OPTIONS] [SESSION | --last] [PROMPT]",
	.arguments = session_arguments,
	.argument_count = countof(session_arguments),
	.options = session_rows,
	.option_count = countof(session_rows),
	.most_positionals = 2,
};

const struct cli_command fork_command = {
	.name = "codex fork",
	.about = "Continue in a copy of a recorded session.",
	.usage = "Usage: codex fork [OPTIONS] [SESSION | --last] [PROMPT]",
	.arguments = session_arguments,
	.argument_count = countof(session_arguments),
	.options = session_rows,
	.option_count = countof(session_rows),
	.most_positionals = 2,
};

static int read_word(const struct cli_command *command, struct exec_options *options, const struct cli_word *word,
                     struct error *err)
{
	bool has_list = command == &resume_command || command == &fork_command;
	options->is_review = command == &review_command || (word && strcmp(word->word, "review") == 0);
	options->resume = has_list || (word && !options->is_review);
	options->forks = command == &fork_command || (word && strcmp(word->word, "fork") == 0);
	options->picks = has_list && !options->last;
	options->asks_prompt = has_list;
	if (!options->resume && (options->last || options->all))
		return error_set(err, ERR_usage, "'--%s' requires resume", options->last ? "last" : "all");
	return 0;
}

/* Checks that a review has exactly one target. */
static int read_review(struct exec_options *options, struct error *err)
{
	const struct {
		const char *name;
		bool is_given;
	} targets[] = {
		{"--uncommitted", options->review.uncommitted},
		{"--base <BRANCH>", options->review.base},
		{"--commit <SHA>", options->review.commit},
		{"[PROMPT]", options->prompt && options->is_review},
	};
	const char *first = NULL;
	for (size_t i = 0; i < countof(targets); i++) {
		if (targets[i].is_given && first)
			return error_set(err, ERR_usage, "the argument '%s' cannot be used with '%s'", first,
			                 targets[i].name);
		if (targets[i].is_given)
			first = targets[i].name;
	}
	if (!options->is_review && (first || options->review.title))
		return error_set(err, ERR_usage, "'%s' requires review", first ? first : "--title <TITLE>");
	if (!options->is_review)
		return 0;
	if (options->review.title && !options->review.commit)
		return error_set(err, ERR_usage, "'--title <TITLE>' requires '--commit <SHA>'");
	if (options->plan)
		return error_set(err, ERR_usage, "'--plan' cannot be used with review: a review changes nothing");
	if (options->output_schema || options->images.count)
		return error_set(err, ERR_usage, "'--%s' cannot be used with review: the findings have a fixed form",
		                 options->output_schema ? "output-schema" : "image");
	return first ? 0
	             : error_set(err, ERR_usage,
	                         "Specify --uncommitted, --base, --commit, or provide custom review instructions");
}

static int read_positionals(struct exec_options *options, const struct cli_list *texts, struct error *err)
{
	size_t at = 0;
	if (options->resume && !options->last) {
		if (!texts->count && !options->picks)
			return error_set(err, ERR_usage, "%s needs a session's id or name, or --last",
			                 options->forks ? "fork" : "resume");
		if (texts->count)
			options->resume_id = texts->items[at++];
		options->picks = !options->resume_id;
	}
	if (at < texts->count)
		options->prompt = texts->items[at++];
	if (at < texts->count)
		return error_set(err, ERR_usage,
		                 "unexpected argument '%s' found\n\n  tip: put quotes around the prompt",
		                 texts->items[at]);
	return 0;
}

int exec_options_check(const struct exec_options *options, struct error *err)
{
	if (!options->approve_for_me || (!options->bypass && !options->sandbox))
		return 0;
	return error_set(err, ERR_usage, "the argument '--approve-for-me' cannot be used with '%s'",
	                 options->bypass ? EXEC_BYPASS : "--sandbox <SANDBOX_MODE>");
}

int exec_options_read(const struct cli_command *command, struct exec_options *options, struct cli_result *result,
                      int argc, char **argv)
{
	struct error err;
	*options = (struct exec_options){0};
	int status = cli_read(command, argc, argv, options, result);
	if (status >= 0)
		return status;
	if (exec_options_check(options, &err) != 0 || read_word(command, options, result->word, &err) != 0 ||
	    read_positionals(options, &result->positionals, &err) != 0 || read_review(options, &err) != 0)
		return cli_print_error(command, &err);
	return -1;
}

void exec_options_finish(struct exec_options *options, struct cli_result *result)
{
	cli_finish(&exec_command, options, result);
}

/* ---- the configuration ---- */

enum { FLAGS_MAX = 14 };

/* Lists the settings that the run's flags set; an error names the flag that caused it. */
static size_t list_flags(const struct exec_options *options, struct config_flag flags[FLAGS_MAX])
{
	static const char reviewed[] = "--approve-for-me";
	bool is_limited = options->bypass || options->sandbox || options->permissions;
	bool writes = !is_limited && (options->full_auto || options->approve_for_me);
	const char *access = options->bypass ? "danger-full-access" : writes ? "workspace-write" : options->sandbox;
	const char *flag = options->bypass      ? EXEC_BYPASS
	                   : !writes            ? "--sandbox"
	                   : options->full_auto ? "--full-auto"
	                                        : reviewed;
	const struct config_flag rows[] = {
		{"--model", "model", str_of(options->model)},
		{flag, "sandbox_mode", str_of(access)},
		{"--permissions", "default_permissions", str_of(access ? NULL : options->permissions)},
		{reviewed, "approval_policy", options->approve_for_me ? STR("on-request") : STR_NONE},
		{reviewed, "approvals_reviewer", options->approve_for_me ? STR("auto_review") : STR_NONE},
		{"--search", "web_search", options->search ? STR("live") : STR_NONE},
		{"--plan", "collaboration_mode", options->plan ? STR("plan") : STR_NONE},
		{"--local-provider", "oss_provider", str_of(options->local_provider)},
	};
	size_t count = 0;
	for (size_t i = 0; i < countof(rows); i++) {
		if (rows[i].value.ptr)
			flags[count++] = rows[i];
	}
	return count;
}

struct overrides {
	VEC(struct str) list;
	VEC(char *) owned;
};

static int add_features(struct overrides *overrides, const struct cli_list *names, const char *value, struct error *err)
{
	for (size_t i = 0; i < names->count; i++) {
		if (cli_check_feature(names->items[i], err) != 0)
			return -(int)err->code;
		char *text = xasprintf("features.%s=%s", names->items[i], value);
		vec_push(&overrides->owned, text);
		vec_push(&overrides->list, str_of(text));
	}
	return 0;
}

static struct config *load(const struct exec_options *options, const char *cwd, const struct overrides *overrides,
                           const char *oss_provider, const char *served, struct error *err)
{
	struct config_flag flags[FLAGS_MAX];
	size_t count = list_flags(options, flags);
	if (oss_provider)
		flags[count++] = (struct config_flag){"--oss", "model_provider", str_of(oss_provider)};
	/* The configured model is that of another provider. */
	const char *oss_model = oss_provider && !options->model ? model_provider_oss_model(oss_provider) : NULL;
	if (!oss_model && !options->model)
		oss_model = served;
	if (oss_model)
		flags[count++] = (struct config_flag){"--oss", "model", str_of(oss_model)};
	struct config_source source = {
		.cwd = cwd,
		.profile = options->profile,
		.overrides = overrides->list.items,
		.override_count = overrides->list.count,
		.flags = flags,
		.flag_count = count,
		.is_strict = options->strict_config,
		.needs_no_key = options->needs_no_key,
		.ignore_user_config = options->ignore_user_config,
		.ignore_rules = options->ignore_rules,
		.bypass_hook_trust = options->bypass_hook_trust,
	};
	return config_load(&source, err);
}

/* Adds what a local server has reported, before the options of the user, which take precedence. */
static void add_server(struct overrides *all, const struct oss_server *server, const struct overrides *given,
                       const struct config *config)
{
	if (server->speaks_chat)
		vec_push(&all->owned, xasprintf("model_providers.%s.wire_api=\"chat\"", server->provider));
	if (server->window > 0 && !config->is_set.model_context_window)
		vec_push(&all->owned, xasprintf("model_context_window=%lld", (long long)server->window));
	vec_for_each(text, &all->owned)
		vec_push(&all->list, str_of(*text));
	vec_for_each(text, &given->list)
		vec_push(&all->list, *text);
}

/* Loads the configuration twice for --oss, because the configuration itself may name the local server. */
static struct config *load_oss(const struct exec_options *options, const char *cwd, const struct overrides *overrides,
                               struct error *err)
{
	struct oss_server server;
	struct overrides all = {0};
	struct config *config = NULL, *first = load(options, cwd, overrides, NULL, NULL, err);
	if (!first)
		return NULL;
	if (oss_server_find(first, options->model, &server, err) == 0) {
		add_server(&all, &server, overrides, first);
		config = load(options, cwd, &all, server.provider, server.model, err);
	}
	oss_server_finish(&server);
	vec_for_each(text, &all.owned)
		free(*text);
	vec_finish(&all.owned);
	vec_finish(&all.list);
	config_unref(first);
	return config;
}

static struct config *load_all(const struct exec_options *options, const char *cwd, struct error *err)
{
	struct overrides overrides = {0};
	struct config *config = NULL;
	for (size_t i = 0; i < options->overrides.count; i++)
		vec_push(&overrides.list, str_of(options->overrides.items[i]));
	if (add_features(&overrides, &options->enable, "true", err) == 0 &&
	    add_features(&overrides, &options->disable, "false", err) == 0)
		config = options->oss ? load_oss(options, cwd, &overrides, err)
		                      : load(options, cwd, &overrides, NULL, NULL, err);
	vec_for_each(text, &overrides.owned)
		free(*text);
	vec_finish(&overrides.owned);
	vec_finish(&overrides.list);
	return config;
}

/* ---- --trust ---- */

static int write_trust(struct toml_edit *edit, void *self, struct error *err)
{
	const char *root = self;
	const struct str path[] = {STR("projects"), str_of(root), STR("trust_level")};
	const struct toml value = {.kind = TOML_string, .source = "", .text = STR("trusted")};
	return toml_edit_set(edit, path, countof(path), &value, err);
}

/* Records the trust before the run, so that this configuration already has the project's settings. */
static int trust_project(const struct config *config, struct error *err)
{
	enum trust_level level;
	const char *root = config_project_root(config, &level);
	if (level == trust_level_untrusted)
		return error_set(
			err, ERR_config,
			"--trust: %s is marked as untrusted in config.toml; to trust it, change trust_level of "
			"[projects.\"%s\"] there",
			root, root);
	return config_file_change(config_home(config), write_trust, (void *)(uintptr_t)root, err);
}

int exec_config_load(const struct exec_options *options, const char *cwd, struct config **ret_config, struct error *err)
{
	enum trust_level level;
	struct config *config = load_all(options, cwd, err);
	*ret_config = config;
	if (config && options->trust)
		config_project_root(config, &level);
	if (!config || !options->trust || level == trust_level_trusted)
		return config ? 0 : -(int)err->code;
	int status = trust_project(config, err);
	*ret_config = status == 0 ? load_all(options, cwd, err) : NULL;
	config_unref(config);
	return *ret_config ? 0 : -(int)err->code;
}
