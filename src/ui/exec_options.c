/* `resume` is a word among the positionals rather than a parser of its own: every option means the same
 * before and after it, as clients that build command lines expect. */
#include "ui/exec_options.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

static const struct cli_option exec_rows[] = {
#define OPTION(kind, field, name, letter, value, choices, doc) \
	{name, letter, kind, offsetof(struct exec_options, field), value, choices, doc},
#include "ui/exec_option.def"
#undef OPTION
};

static const char exec_details[] =
	"Arguments:\n"
	"  [PROMPT]    What to do. Read from standard input if absent or \"-\"; if both are given, what standard\n"
	"              input holds is added to the prompt as a <stdin> block.\n"
	"\n"
	"Examples:\n"
	"  codex exec \"make the failing test pass\" --sandbox workspace-write\n"
	"  git diff | codex exec \"review this change\" -o review.txt\n"
	"  codex exec --json \"list the exported functions\" | jq .\n"
	"  codex exec resume --last \"now write a test for it\"\n"
	"\n"
	"resume takes a session id (see thread.started in --json, or \"session id\" in the banner) or a name;\n"
	"--last takes the newest session of this folder, with --all of any folder.\n";

static const struct cli_command exec_command = {
	.name = "codex exec",
	.about = "Do one task without asking: the last message goes to standard output, all else to standard error.",
	.usage = "Usage: codex exec [OPTIONS] [PROMPT]\n"
		 "       codex exec [OPTIONS] resume <SESSION_ID | --last> [PROMPT]",
	.details = exec_details,
	.options = exec_rows,
	.option_count = countof(exec_rows),
	.most_positionals = 3,
};

static int read_positionals(struct exec_options *options, const struct cli_list *words, struct error *err)
{
	size_t at = 0;
	options->resume = words->count && strcmp(words->items[0], "resume") == 0;
	if (options->resume) {
		at++;
		if (!options->last && at == words->count)
			return error_set(err, ERR_usage, "resume needs a session id or --last");
		if (!options->last)
			options->resume_id = words->items[at++];
	} else if (options->last || options->all) {
		return error_set(err, ERR_usage, "'--%s' goes with resume", options->last ? "last" : "all");
	}
	if (at < words->count)
		options->prompt = words->items[at++];
	if (at < words->count)
		return error_set(err, ERR_usage, "unexpected argument '%s' found", words->items[at]);
	return 0;
}

int exec_options_read(struct exec_options *options, struct cli_result *result, int argc, char **argv)
{
	struct error err;
	*options = (struct exec_options){0};
	if (cli_parse(&exec_command, argc, argv, options, result, &err) != 0)
		return cli_print_error(&exec_command, &err);
	if (result->wants_help) {
		cli_print_help(&exec_command);
		return 0;
	}
	if (read_positionals(options, &result->positionals, &err) != 0)
		return cli_print_error(&exec_command, &err);
	return -1;
}

void exec_options_finish(struct exec_options *options, struct cli_result *result)
{
	cli_finish(&exec_command, options, result);
}
