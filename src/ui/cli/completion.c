/* The scripts contain all words instead of running codex for each completion, so they are fast and work while the
 * binary is being replaced. */
#include "ui/cli/completion.h"

#include <stdio.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "ui/cli/completion_priv.h"

typedef void (*completion_write_fn)(const struct cli_command *program, struct buf *out);

static const struct cli_word shells[] = {
	{.word = "bash", .doc = "In ~/.bashrc: source <(codex completion bash)"},
	{.word = "zsh", .doc = "In ~/.zshrc, after compinit: source <(codex completion zsh)"},
	{.word = "fish", .doc = "In ~/.config/fish/config.fish: codex completion fish | source"},
};

static const completion_write_fn writers[] = {completion_bash, completion_zsh, completion_fish};
_Static_assert(countof(writers) == countof(shells), "a writer for each shell");

const struct cli_command completion_command = {
	.name = "codex completion",
	.about = "Print a script that completes codex command lines; bash is the default.",
	.usage = "Usage: codex completion [SHELL]",
	.words = shells,
	.word_count = countof(shells),
};

enum completion_value completion_value(const struct cli_option *option)
{
	if (option->choices)
		return COMPLETION_choices;
	if (option->kind == CLI_FLAG)
		return COMPLETION_nothing;
	if (strcmp(option->value, "FILE") == 0)
		return COMPLETION_files;
	return strcmp(option->value, "DIR") == 0 ? COMPLETION_folders : COMPLETION_nothing;
}

void completion_append_choices(struct buf *out, const char *choices)
{
	for (; *choices; choices++)
		buf_append_char(out, *choices == '|' ? ' ' : *choices);
}

void completion_append_words(struct buf *out, const struct cli_command *command)
{
	for (size_t i = 0; i < command->word_count; i++) {
		if (command->words[i].doc)
			buf_printf(out, " %s", command->words[i].word);
	}
}

int completion_main(const struct cli_command *program, int argc, char **argv)
{
	struct cli_result result;
	struct error err;
	auto_buf struct buf script;
	buf_init(&script, MIB);
	int status = cli_read(&completion_command, argc, argv, NULL, &result);
	if (status < 0) {
		writers[result.word ? result.word - shells : 0](program, &script);
		status = fd_write_all(STDOUT_FILENO, script.data, script.len, &err);
		if (status != 0)
			fprintf(stderr, "codex completion: standard output: %s\n", err.text);
		status = status == 0 ? 0 : 1;
	}
	cli_finish(&completion_command, NULL, &result);
	return status;
}
