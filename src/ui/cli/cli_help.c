/* Help is formatted for 80 columns on all terminals, because a fixed width is readable and can be tested. If a name is
 * too long for its column, its text starts on the next line. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "ui/cli/cli.h"

enum { WIDTH = 80, OPTION_COLUMN = 30, WORD_COLUMN = 16, WORD_MARGIN = 2 };

static void append_blanks(struct buf *out, size_t count)
{
	while (count--)
		buf_append_char(out, ' ');
}

/* Appends text as words, wrapped to start at this column; the current line is filled up to `at`. */
static void append_wrapped(struct buf *out, struct str text, size_t at, size_t column)
{
	struct str word;
	bool is_first = true;
	while (str_next_part(&text, ' ', &word)) {
		if (!is_first && at + 1 + word.len > WIDTH) {
			buf_append_char(out, '\n');
			append_blanks(out, column);
			at = column;
			is_first = true;
		}
		if (!is_first)
			buf_append_char(out, ' ');
		buf_append_str(out, word);
		at += word.len + !is_first;
		is_first = false;
	}
	buf_append_char(out, '\n');
}

/* Appends a row: a name, then its description. */
static void append_row(struct buf *out, const char *head, const char *doc, const char *choices, size_t column)
{
	auto_buf struct buf text;
	buf_init(&text, 4 * KIB);
	buf_append_c(&text, doc);
	const char *before = " [";
	struct str rest = str_of(choices), word;
	while (choices && str_next_part(&rest, '|', &word)) {
		buf_printf(&text, "%s%.*s", before, STR_ARG(word));
		before = ", ";
	}
	if (choices)
		buf_append_char(&text, ']');
	size_t len = str_of(head).len;
	buf_append_c(out, head);
	if (len + 2 > column) {
		buf_append_char(out, '\n');
		len = 0;
	}
	append_blanks(out, column - len);
	append_wrapped(out, buf_str(&text), column, column);
}

static void append_option(struct buf *out, const struct cli_option *option)
{
	char head[96];
	int len = option->letter ? snprintf(head, sizeof(head), "  -%c, --%s", option->letter, option->name)
	                         : snprintf(head, sizeof(head), "      --%s", option->name);
	if (option->kind != CLI_FLAG)
		snprintf(head + len, sizeof(head) - (size_t)len, " <%s>", option->value);
	append_row(out, head, option->doc, option->choices, OPTION_COLUMN);
}

static void append_words(struct buf *out, const struct cli_command *command)
{
	buf_append_c(out, "\nCommands:\n");
	for (size_t i = 0; i < command->word_count; i++) {
		char head[64];
		if (!command->words[i].doc)
			continue;
		snprintf(head, sizeof(head), "  %s", command->words[i].word);
		append_row(out, head, command->words[i].doc, NULL, WORD_COLUMN);
	}
}

static void append_arguments(struct buf *out, const struct cli_command *command)
{
	buf_append_c(out, "\nArguments:\n");
	for (size_t i = 0; i < command->argument_count; i++) {
		const struct cli_argument *argument = &command->arguments[i];
		char head[64];
		snprintf(head, sizeof(head), "  %s", argument->name);
		append_row(out, head, argument->doc, NULL, WORD_COLUMN);
	}
}

static void append_options(struct buf *out, const struct cli_command *command)
{
	buf_append_c(out, "\nOptions:\n");
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].doc)
			append_option(out, &command->options[i]);
	}
	append_row(out, "  -h, --help", "Show this text", NULL, OPTION_COLUMN);
	append_row(out, "  -V, --version", "Show the version", NULL, OPTION_COLUMN);
}

static void append_help(const struct cli_command *command, struct buf *out)
{
	append_wrapped(out, str_of(command->about), 0, 0);
	buf_printf(out, "\n%s\n", command->usage);
	if (command->word_count)
		append_words(out, command);
	if (command->argument_count)
		append_arguments(out, command);
	append_options(out, command);
	if (command->details)
		buf_printf(out, "\n%s", command->details);
}

void cli_print_help(const struct cli_command *command, int fd)
{
	auto_buf struct buf text;
	buf_init(&text, 64 * KIB);
	append_help(command, &text);
	best_effort(fd_write_all(fd, text.data, text.len, NULL));
}

void cli_print_version(const struct cli_command *command)
{
	struct str name = str_of(command->name);
	str_cut_prefix(&name, "codex");
	str_cut_prefix(&name, " ");
	printf("codex-cli%s%.*s " CODEX_VERSION "\n", name.len ? "-" : "", STR_ARG(name));
}

int cli_print_error(const struct cli_command *command, const struct error *err)
{
	if (err->code == ERR_config) {
		fprintf(stderr, "Error: %s\n", err->text);
		return 1;
	}
	fprintf(stderr, "error: %s\n\n", err->text);
	if (err->code == ERR_usage)
		fprintf(stderr, "%s\n\n", command->usage);
	fputs("For more information, try '--help'.\n", stderr);
	return error_exit_status(ERR_usage);
}

bool cli_wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}
