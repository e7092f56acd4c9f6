/* Lets users test rules before they take effect: the named files are parsed and matched as in a session. The command
 * begins at the first word that is not an option, or after `--`; options after that belong to it. */
#include "ui/tools/execpolicy_command.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "command/command_parse.h"
#include "command/exec_policy.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct check_options {
	struct cli_list rules;
	bool is_pretty;
};

static const struct cli_option check_rows[] = {
	{.name = "rules",
         .letter = 'r',
         .kind = CLI_LIST,
         .offset = offsetof(struct check_options, rules),
         .value = "FILE",
         .doc = "A .rules file; repeatable"},
	{.name = "pretty",
         .kind = CLI_FLAG,
         .offset = offsetof(struct check_options, is_pretty),
         .doc = "Indent the JSON"},
};

static const struct cli_argument check_arguments[] = {
	{"COMMAND…", "The command and its arguments; options after the first word belong to it"},
};

static const struct cli_command check_command = {
	.name = "codex execpolicy check",
	.about = "Show which rules match a command and what they decide, without running it.",
	.usage = "Usage: codex execpolicy check --rules FILE… [--pretty] [--] COMMAND…",
	.details = "Example:\n"
		   "  codex execpolicy check --rules ~/.codex/rules/default.rules git push -f\n"
		   "\n"
		   "Prints JSON: every rule that matches, and the strictest of their decisions\n"
		   "(allow, prompt, forbidden); none if no rule matches.\n",
	.arguments = check_arguments,
	.argument_count = countof(check_arguments),
	.options = check_rows,
	.option_count = countof(check_rows),
};

static int check_main(int argc, char **argv);

static const struct cli_word execpolicy_words[] = {
	{"check", NULL, "Show which rules match a command", &check_command, check_main},
};

const struct cli_command execpolicy_command = {
	.name = "codex execpolicy",
	.about = "Test rules about commands.",
	.usage = "Usage: codex execpolicy check --rules FILE… [--pretty] [--] COMMAND…",
	.words = execpolicy_words,
	.word_count = countof(execpolicy_words),
};

static int load(struct exec_policy *policy, const char *path, struct error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_RULES_FILE);
	if (file_read_regular(path, &text, err) != 0)
		return error_wrap(err, "cannot read the rules");
	return exec_policy_add(policy, buf_str(&text), path, err);
}

/* The words that matched: the command's own, or the rule's if it matched a command that this one runs. */
static void write_match(struct json_writer *w, const struct exec_policy *policy, size_t at,
                        const struct exec_match *match, const struct plain_command *command)
{
	auto_arena struct arena arena = {0};
	jw_object(w);
	jw_key(w, "prefixRuleMatch");
	jw_object(w);
	jw_key(w, "matchedPrefix");
	jw_array(w);
	for (size_t i = 0; i < match->length; i++)
		jw_cstr(w, match->is_within ? exec_policy_word(policy, at, i, &arena) : command->words[i].text);
	jw_array_end(w);
	jw_member_cstr(w, "decision", exec_decision_name(match->decision));
	if (match->justification.ptr)
		jw_member_str(w, "justification", match->justification);
	jw_object_end(w);
	jw_object_end(w);
}

static void write_answer(struct buf *out, const struct exec_policy *policy, const struct plain_command *command)
{
	struct exec_match match;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_key(&w, "matchedRules");
	jw_array(&w);
	for (size_t at = 0; at < exec_policy_count(policy); at++)
		if (exec_policy_match(policy, at, command, &match))
			write_match(&w, policy, at, &match, command);
	jw_array_end(&w);
	if (exec_policy_decide(policy, command, &match))
		jw_member_cstr(&w, "decision", exec_decision_name(match.decision));
	jw_object_end(&w);
}

/* Formats compact JSON over several lines, with two blanks per level. */
static void spread(struct str json, struct buf *out)
{
	size_t depth = 0;
	bool is_text = false;
	for (size_t i = 0; i < json.len; i++) {
		char c = json.ptr[i];
		bool closes = !is_text && (c == '}' || c == ']'), opens = !is_text && (c == '{' || c == '[');
		bool was_opened = i > 0 && (json.ptr[i - 1] == '{' || json.ptr[i - 1] == '[');
		depth -= closes;
		if (closes && !was_opened)
			buf_printf(out, "\n%*s", (int)(2 * depth), "");
		buf_append_char(out, c);
		depth += opens;
		bool is_empty = i + 1 < json.len && (json.ptr[i + 1] == '}' || json.ptr[i + 1] == ']');
		if ((opens && !is_empty) || (!is_text && c == ','))
			buf_printf(out, "\n%*s", (int)(2 * depth), "");
		if (!is_text && c == ':')
			buf_append_char(out, ' ');
		if (is_text && c == '\\')
			buf_append_char(out, json.ptr[++i]);
		else if (c == '"')
			is_text = !is_text;
	}
}

static int check(const struct check_options *options, const struct plain_command *command)
{
	struct error err;
	int status = 0;
	struct exec_policy *policy = exec_policy_create();
	for (size_t i = 0; i < options->rules.count && status == 0; i++)
		status = load(policy, options->rules.items[i], &err);
	if (status == 0) {
		auto_buf struct buf json, text;
		buf_init(&json, LIMIT_LINE);
		buf_init(&text, LIMIT_LINE);
		write_answer(&json, policy, command);
		if (options->is_pretty)
			spread(buf_str(&json), &text);
		else
			buf_append_str(&text, buf_str(&json));
		buf_append_char(&text, '\n');
		status = fd_write_all(STDOUT_FILENO, buf_str(&text).ptr, text.len, &err);
	}
	exec_policy_destroy(policy);
	if (status == 0)
		return 0;
	fprintf(stderr, "%s\n", err.text);
	return EXIT_FAILED;
}

static int check_main(int argc, char **argv)
{
	struct check_options options = {0};
	struct cli_result words;
	struct error err;
	int at = argc;
	if (cli_find_positional(&check_command, argc, argv, &at, &words, NULL) != 0)
		at = argc;
	/* this "--" ends the options and is not part of the command */
	bool has_end = at < argc && strcmp(argv[at], "--") == 0;
	int status = cli_read(&check_command, at, argv, &options, &words);
	auto_arena struct arena arena = {0};
	struct plain_command command = {arena_array(&arena, struct command_word, (size_t)argc), 0};
	for (at += has_end; at < argc; at++)
		command.words[command.count++].text = argv[at];
	if (status < 0 && (options.rules.count == 0 || command.count == 0)) {
		error_set(&err, ERR_usage, "both --rules FILE and a command are needed");
		status = cli_print_error(&check_command, &err);
	}
	if (status < 0)
		status = check(&options, &command);
	cli_finish(&check_command, &options, &words);
	return status;
}

int execpolicy_main(int argc, char **argv)
{
	struct cli_result words;
	struct error err;
	int at;
	bool is_fine = cli_find_positional(&execpolicy_command, argc, argv, &at, &words, &err) == 0;
	if (is_fine && cli_move_word(&execpolicy_command, argv, at))
		return check_main(argc - 1, argv + 1);
	int status = cli_read(&execpolicy_command, argc, argv, NULL, &words);
	if (status < 0) {
		error_set(&err, ERR_usage, "expected a word: codex execpolicy check");
		status = cli_print_error(&execpolicy_command, &err);
	}
	cli_finish(&execpolicy_command, NULL, &words);
	return status;
}
