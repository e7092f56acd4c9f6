/* The command lines of `codex`, `codex resume` and `codex fork`: the options of `codex exec` and those of
 * tui_option.def. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "ui/tui/tui.h"
#include "ui/tui/tui_priv.h"

_Static_assert(offsetof(struct tui_options, run) == 0, "the rows of exec_option.def have offsets in it");

#define ROW(kind, field, name, letter, value, choices, doc) \
	{name, letter, kind, offsetof(struct exec_options, field), value, choices, doc},
#define TUI_ROW(kind, field, name, letter, value, choices, doc) \
	{name, letter, kind, offsetof(struct tui_options, field), value, choices, doc},
#define EXEC_OPTION ROW
#define REVIEW_OPTION(kind, field, name, letter, value, choices, doc, review_doc) \
	ROW(kind, field, name, letter, value, choices, NULL)

static const struct cli_option rows[] = {
#define SESSION_OPTION(kind, field, name, letter, value, choices, doc, session_doc) \
	ROW(kind, field, name, letter, value, choices, NULL)
#define OPTION ROW
#include "ui/exec/exec_option.def"
#undef SESSION_OPTION
#undef OPTION
#define OPTION TUI_ROW
#include "ui/tui/tui_option.def"
#undef OPTION
};

static const struct cli_option session_rows[] = {
#define SESSION_OPTION(kind, field, name, letter, value, choices, doc, session_doc) \
	ROW(kind, field, name, letter, value, choices, session_doc)
#define OPTION ROW
#include "ui/exec/exec_option.def"
#undef SESSION_OPTION
#undef OPTION
#define OPTION TUI_ROW
#include "ui/tui/tui_option.def"
#undef OPTION
};

static const struct cli_argument arguments[] = {
	{.name = "[PROMPT]", .doc = "The first message"},
};

const struct cli_command tui_command_line = {
	.name = "codex",
	.about = "Work with the agent in the terminal.",
	.usage = "Usage: codex [OPTIONS] [PROMPT]",
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = rows,
	.option_count = countof(rows),
	.most_positionals = 1,
};

static const struct cli_argument session_arguments[] = {
	{.name = "[SESSION]",
         .doc = "An id, a unique prefix of one, or a name. Without it and without --last the sessions are listed: "
                "on a terminal you can choose one, elsewhere they are printed as a table."},
	{.name = "[PROMPT]", .doc = "The next message"},
};

static const char resume_details[] = "Examples:\n"
				     "  codex resume                      # choose one of this folder\n"
				     "  codex resume --all | grep parser  # of any folder, as a table\n"
				     "  codex resume 01a1fb55 \"and now the tests\"\n"
				     "\n"
				     "In a terminal the conversation continues there, in the current folder (or\n"
				     "--cd). Elsewhere one task runs, as with `codex exec resume`.\n";

const struct cli_command tui_resume_command = {
	.name = "codex resume",
	.about = "Continue a recorded session.",
	.usage = "Usage: codex resume [OPTIONS] [SESSION | --last] [PROMPT]",
	.details = resume_details,
	.arguments = session_arguments,
	.argument_count = countof(session_arguments),
	.options = session_rows,
	.option_count = countof(session_rows),
	.most_positionals = 2,
};

static const char fork_details[] = "Examples:\n"
				   "  codex fork                        # choose one of this folder\n"
				   "  codex fork --last \"try it the other way\"\n"
				   "\n"
				   "The session itself is unchanged. In a terminal the conversation continues\n"
				   "there; elsewhere one task runs, as with `codex exec fork`.\n";

const struct cli_command tui_fork_command = {
	.name = "codex fork",
	.about = "Continue in a copy of a recorded session.",
	.usage = "Usage: codex fork [OPTIONS] [SESSION | --last] [PROMPT]",
	.details = fork_details,
	.arguments = session_arguments,
	.argument_count = countof(session_arguments),
	.options = session_rows,
	.option_count = countof(session_rows),
	.most_positionals = 2,
};

/* clang-format off */
static const struct cli_option attach_rows[] = {
	TUI_ROW(CLI_FLAG, lists, "list", 0, NULL, NULL, "Print the running sessions: id, program, folder and name")
	ROW(CLI_LIST, overrides, "config", 'c', "key=value", NULL, "Set a configuration value (TOML); repeatable")
	TUI_ROW(CLI_FLAG, ignored, "no-alt-screen", 0, NULL, NULL, NULL)
};
/* clang-format on */

static const struct cli_argument attach_arguments[] = {
	{.name = "[SESSION]", .doc = "An id, a unique prefix of one, or a name; without it the one session that runs"},
	{.name = "[PROMPT]", .doc = "A message to send"},
};

static const char attach_details[] = "Examples:\n"
				     "  codex attach --list\n"
				     "  codex attach 01a1fb55\n"
				     "\n"
				     "A session that runs in a terminal or in `codex exec` appears here, too: its\n"
				     "conversation, its requests and what it does now. The first answer to a request\n"
				     "counts, from whichever terminal. Messages join the running turn. Ctrl-C on an\n"
				     "empty composer detaches this terminal; the session continues.\n"
				     "\n"
				     "The sockets are in $CODEX_HOME/attach. Only you can connect to them, and no\n"
				     "command that the sandbox confines.\n";

const struct cli_command tui_attach_command = {
	.name = "codex attach",
	.about = "Watch, answer and steer a session that runs in another terminal.",
	.usage = "Usage: codex attach [OPTIONS] [SESSION] [PROMPT]",
	.details = attach_details,
	.arguments = attach_arguments,
	.argument_count = countof(attach_arguments),
	.options = attach_rows,
	.option_count = countof(attach_rows),
	.most_positionals = 2,
};

static bool is_given(const struct tui_options *options, const struct cli_option *row)
{
	const void *value = (const char *)options + row->offset;
	switch (row->kind) {
	case CLI_FLAG:
		return *(const bool *)value;
	case CLI_TEXT:
		return *(const char *const *)value != NULL;
	default: /* approval_line is the value of another option */
		return ((const struct cli_list *)value)->count >
		       (value == &options->run.overrides && options->approval_line);
	}
}

/* The session belongs to the server, so the options that configure a session here have no effect on it. */
int tui_options_check_daemon(const struct tui_options *options, struct error *err)
{
	static const char *const taken[] = {"daemon",  "no-alt-screen",    "no-daemon", "cd",    "worktree", "model",
	                                    "sandbox", "ask-for-approval", "image",     "color", "last",     "all"};
	for (size_t i = 0; i < countof(rows); i++) {
		bool is_taken = false;
		for (size_t n = 0; n < countof(taken); n++)
			is_taken |= strcmp(rows[i].name, taken[n]) == 0;
		if (!is_taken && is_given(options, &rows[i]))
			return error_set(err, ERR_usage,
			                 "'--%s' has no effect on a session of the background server: set it in "
			                 "config.toml, or leave out --daemon",
			                 rows[i].name);
	}
	return 0;
}

/* Distributes the words that are not options. */
static int read_words(const struct cli_command *command, struct tui_options *options, const struct cli_list *words,
                      struct error *err)
{
	struct exec_options *run = &options->run;
	size_t at = 0;
	options->attaches = command == &tui_attach_command;
	run->resume = command != &tui_command_line && !options->attaches;
	run->forks = command == &tui_fork_command;
	if (!run->resume && (run->last || run->all))
		return error_set(err, ERR_usage, "'--%s' requires resume", run->last ? "last" : "all");
	if (options->in_daemon && (run->forks || options->remote))
		return error_set(err, ERR_usage, "'--daemon' begins or resumes a session on this machine");
	if (options->in_daemon && tui_options_check_daemon(options, err) != 0)
		return -(int)err->code;
	if ((options->attaches || (run->resume && !run->last)) && words->count)
		run->resume_id = words->items[at++];
	run->picks = run->resume && !run->last && !run->resume_id;
	if (options->in_daemon && run->picks)
		return error_set(err, ERR_usage, "'--daemon' requires a session, or --last");
	if (at < words->count)
		run->prompt = words->items[at++];
	if (at < words->count)
		return error_set(err, ERR_usage,
		                 "unexpected argument '%s' found\n\n  tip: put quotes around the prompt",
		                 words->items[at]);
	return 0;
}

int tui_options_read(const struct cli_command *command, struct tui_options *options, struct cli_result *words, int argc,
                     char **argv)
{
	struct error err;
	int status = cli_read(command, argc, argv, options, words);
	if (status >= 0)
		return status;
	if (exec_options_check(&options->run, &err) != 0 ||
	    read_words(command, options, &words->positionals, &err) != 0)
		return cli_print_error(command, &err);
	if (options->approval) {
		options->approval_line = xasprintf("approval_policy=\"%s\"", options->approval);
		vec_push(&options->run.overrides, options->approval_line);
	}
	return -1;
}

void tui_options_finish(const struct cli_command *command, struct tui_options *options, struct cli_result *words)
{
	cli_finish(command, options, words);
	free(options->approval_line);
}
