/* One `complete` line an option, on the condition that its command was typed before. */
#include "ui/cli/completion_priv.h"

static void append_doc(struct buf *out, const char *doc)
{
	buf_append_c(out, " -d '");
	for (; *doc; doc++) {
		if (*doc == '\'' || *doc == '\\')
			buf_append_char(out, '\\');
		buf_append_char(out, *doc);
	}
	buf_append_c(out, "'\n");
}

static void append_start(struct buf *out, const struct cli_word *word)
{
	buf_printf(out, "complete -c codex -n '__fish_seen_subcommand_from %s%s%s'", word->word, word->other ? " " : "",
	           word->other ? word->other : "");
}

static void append_value(struct buf *out, const struct cli_option *option)
{
	enum completion_value value = completion_value(option);
	if (option->kind == CLI_FLAG)
		return;
	if (value == COMPLETION_choices) {
		buf_append_c(out, " -x -a '");
		completion_append_choices(out, option->choices);
		buf_append_char(out, '\'');
	} else {
		buf_append_c(out, value == COMPLETION_files     ? " -r -F"
		                  : value == COMPLETION_folders ? " -x -a '(__fish_complete_directories)'"
		                                                : " -x");
	}
}

static void append_option(struct buf *out, const struct cli_word *word, const struct cli_option *option)
{
	append_start(out, word);
	buf_printf(out, " -l %s", option->name);
	if (option->letter)
		buf_printf(out, " -s %c", option->letter);
	append_value(out, option);
	append_doc(out, option->doc);
}

static void append_command(struct buf *out, const struct cli_word *word)
{
	const struct cli_command *command = word->command;
	for (size_t i = 0; i < command->word_count; i++) {
		if (!command->words[i].doc)
			continue;
		append_start(out, word);
		buf_printf(out, " -a %s", command->words[i].word);
		append_doc(out, command->words[i].doc);
	}
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].doc)
			append_option(out, word, &command->options[i]);
	}
}

void completion_fish(const struct cli_command *program, struct buf *out)
{
	buf_append_c(out, "# Completes codex command lines in fish: codex completion fish | source\n"
	                  "complete -c codex -f\n"
	                  "complete -c codex -s h -l help -d 'Show this text'\n"
	                  "complete -c codex -s V -l version -d 'Show the version'\n");
	for (size_t i = 0; i < program->word_count; i++) {
		const struct cli_word *word = &program->words[i];
		if (!word->doc)
			continue;
		buf_printf(out, "complete -c codex -n __fish_use_subcommand -a %s", word->word);
		append_doc(out, word->doc);
	}
	for (size_t i = 0; i < program->word_count; i++)
		append_command(out, &program->words[i]);
}
