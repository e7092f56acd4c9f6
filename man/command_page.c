/* The page of a command, from the rows that parse its command line and print its --help. */
#include "pages.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "main/command.h"
#include "roff.h"

enum { PAGE_NAME_MAX = 64 };

/* "codex app-server daemon" has the page codex-app-server-daemon. */
static const char *page_name(const struct cli_command *command, char *ret_name)
{
	snprintf(ret_name, PAGE_NAME_MAX, "%s", command->name);
	for (char *c = ret_name; *c; c++)
		*c = *c == ' ' ? '-' : *c;
	return ret_name;
}

const struct cli_command *command_page_find(const struct cli_command *command, const char *page)
{
	char name[PAGE_NAME_MAX];
	if (strcmp(page_name(command, name), page) == 0)
		return command;
	for (size_t i = 0; i < command->word_count; i++) {
		const struct cli_command *inner = command->words[i].command;
		/* The words of `codex help` are those of codex. */
		if (!inner || !command->words[i].doc || strcmp(command->name, "codex help") == 0)
			continue;
		const struct cli_command *found = command_page_find(inner, page);
		if (found)
			return found;
	}
	return NULL;
}

static void append_name(struct buf *out, const char *page, const struct cli_command *command)
{
	struct str about = str_of(command->about);
	str_cut_prefix(&about, "Codex: ");
	const char *end = strpbrk(about.ptr, ".:;,");
	about.len = end ? (size_t)(end - about.ptr) : about.len;
	buf_append_c(out, ".SH NAME\n");
	roff_append(out, str_of(page));
	buf_append_c(out, " \\- ");
	/* By custom without a capital letter and a full stop. */
	buf_append_char(out,
	                about.ptr[0] >= 'A' && about.ptr[0] <= 'Z' ? (char)(about.ptr[0] - 'A' + 'a') : about.ptr[0]);
	roff_append(out, str_skip(about, 1));
	buf_append_char(out, '\n');
}

static void append_synopsis(struct buf *out, const struct cli_command *command)
{
	struct str usage = str_of(command->usage);
	str_cut_prefix(&usage, "Usage: ");
	buf_append_c(out, ".SH SYNOPSIS\n");
	roff_verbatim(out, usage, strlen("Usage: "));
}

static bool is_example(struct str paragraph)
{
	return str_has_prefix(paragraph, "Example") || str_has_prefix(paragraph, "  ");
}

/* Appends the paragraphs of the details that are examples, or those that are not. */
static void append_details(struct buf *out, const char *details, bool wants_examples)
{
	struct str rest = str_of(details);
	bool has_heading = false;
	while (rest.len) {
		const char *gap = memmem(rest.ptr, rest.len, "\n\n", 2);
		struct str paragraph = str_n(rest.ptr, gap ? (size_t)(gap - rest.ptr) : rest.len);
		rest = str_skip(rest, paragraph.len + (gap ? 2 : 0));
		if (is_example(paragraph) != wants_examples)
			continue;
		if (wants_examples && !has_heading)
			buf_append_c(out, ".SH EXAMPLES\n");
		has_heading = true;
		if (!str_cut_prefix(&paragraph, "Examples:\n"))
			str_cut_prefix(&paragraph, "Example:\n");
		roff_paragraphs(out, paragraph);
	}
}

static void append_description(struct buf *out, const struct cli_command *command)
{
	buf_append_c(out, ".SH DESCRIPTION\n");
	roff_sentence(out, str_of(command->about));
	append_details(out, command->details, false);
}

static void append_words(struct buf *out, const struct cli_command *command)
{
	char page[PAGE_NAME_MAX];
	buf_append_c(out, ".SH COMMANDS\n");
	for (size_t i = 0; i < command->word_count; i++) {
		const struct cli_word *word = &command->words[i];
		if (!word->doc)
			continue;
		roff_tag(out);
		buf_append_c(out, "\\fB");
		roff_append(out, str_of(word->word));
		buf_append_c(out, "\\fR");
		if (word->other)
			buf_printf(out, ", \\fB%s\\fR", word->other);
		buf_append_char(out, '\n');
		roff_sentence(out, str_of(word->doc));
		if (word->command) {
			buf_append_c(out, "See \\fB");
			roff_append(out, str_of(page_name(word->command, page)));
			buf_append_c(out, "\\fR(1).\n");
		}
	}
}

static void append_arguments(struct buf *out, const struct cli_command *command)
{
	buf_append_c(out, ".SH ARGUMENTS\n");
	for (size_t i = 0; i < command->argument_count; i++) {
		roff_tag(out);
		buf_append_c(out, "\\fI");
		roff_append(out, str_of(command->arguments[i].name));
		buf_append_c(out, "\\fR\n");
		roff_sentence(out, str_of(command->arguments[i].doc));
	}
}

static void append_choices(struct buf *out, const char *choices)
{
	struct str rest = str_of(choices), word;
	const char *before = "Values: ";
	while (str_next_part(&rest, '|', &word)) {
		buf_printf(out, "%s\\fB", before);
		roff_append(out, word);
		buf_append_c(out, "\\fR");
		before = ", ";
	}
	buf_append_c(out, ".\n");
}

static void append_option(struct buf *out, const struct cli_option *option)
{
	roff_tag(out);
	if (option->letter)
		buf_printf(out, "\\fB\\-%c\\fR, ", option->letter);
	buf_append_c(out, "\\fB\\-\\-");
	roff_append(out, str_of(option->name));
	buf_append_c(out, "\\fR");
	if (option->kind != CLI_FLAG) {
		buf_append_c(out, " \\fI");
		roff_append(out, str_of(option->value));
		buf_append_c(out, "\\fR");
	}
	buf_append_char(out, '\n');
	roff_sentence(out, str_of(option->doc));
	if (option->choices)
		append_choices(out, option->choices);
}

static void append_options(struct buf *out, const struct cli_command *command)
{
	static const struct cli_option builtin[] = {
		{.name = "help", .letter = 'h', .doc = "Show a summary of the command line."},
		{.name = "version", .letter = 'V', .doc = "Show the version."},
	};
	buf_append_c(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].doc)
			append_option(out, &command->options[i]);
	}
	for (size_t i = 0; i < countof(builtin); i++)
		append_option(out, &builtin[i]);
}

/* Appends the pages above and below the command. */
static void append_see_also(struct buf *out, const struct cli_command *command)
{
	char page[PAGE_NAME_MAX];
	buf_append_c(out, ".SH SEE ALSO\n");
	if (command != &codex_command)
		buf_append_c(out, ".BR codex (1),\n");
	for (size_t i = 0; i < command->word_count; i++) {
		if (!command->words[i].command || !command->words[i].doc || strcmp(command->name, "codex help") == 0)
			continue;
		buf_append_c(out, ".BR ");
		roff_append(out, str_of(page_name(command->words[i].command, page)));
		buf_append_c(out, " (1),\n");
	}
	buf_append_c(out, ".BR codex\\-config (5)\n");
}

void command_page_write(struct buf *out, const struct cli_command *command, struct str sections)
{
	char page[PAGE_NAME_MAX];
	roff_title(out, page_name(command, page), 1);
	append_name(out, page, command);
	append_synopsis(out, command);
	append_description(out, command);
	if (command->word_count)
		append_words(out, command);
	if (command->argument_count)
		append_arguments(out, command);
	append_options(out, command);
	buf_append_str(out, sections);
	if (command->details)
		append_details(out, command->details, true);
	append_see_also(out, command);
}
