/* No getopt: its one static state and its wording cannot serve subcommands whose options, help and
 * completion come from one table. */
#include "ui/cli.h"

#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"

struct reader {
	const struct cli_command *command;
	char **argv;
	int argc;
	int at;
	void *options;
	struct error *err;
};

static const struct cli_option *find_name(const struct cli_command *command, struct str name)
{
	for (size_t i = 0; i < command->option_count; i++) {
		if (str_is(name, command->options[i].name))
			return &command->options[i];
	}
	return NULL;
}

static const struct cli_option *find_letter(const struct cli_command *command, char letter)
{
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].letter == letter)
			return &command->options[i];
	}
	return NULL;
}

static bool is_choice(const struct cli_option *option, const char *value)
{
	struct str rest = str_of(option->choices), word;
	while (str_next_part(&rest, '|', &word)) {
		if (str_is(word, value))
			return true;
	}
	return !option->choices;
}

static void list_push(struct cli_list *list, const char *value)
{
	vec_push(list, value);
}

static int store(struct reader *reader, const struct cli_option *option, const char *value)
{
	char *slot = (char *)reader->options + option->offset;
	if (!is_choice(option, value))
		return error_set(reader->err, ERR_usage, "invalid value '%s' for '--%s <%s>'\n  [possible values: %s]",
		                 value, option->name, option->value, option->choices);
	if (option->kind == CLI_TEXT)
		*(const char **)(void *)slot = value;
	else
		list_push((struct cli_list *)(void *)slot, value);
	return 0;
}

static int store_flag(struct reader *reader, const struct cli_option *option)
{
	*(bool *)((char *)reader->options + option->offset) = true;
	return 0;
}

static int missing_value(struct reader *reader, const struct cli_option *option)
{
	return error_set(reader->err, ERR_usage, "a value is required for '--%s <%s>' but none was supplied",
	                 option->name, option->value);
}

static int read_long(struct reader *reader, const char *text)
{
	struct str name = str_of(text);
	ptrdiff_t eq = str_find_char(name, '=');
	if (eq >= 0)
		name.len = (size_t)eq;
	const struct cli_option *option = find_name(reader->command, name);
	if (!option)
		return error_set(reader->err, ERR_usage, "unexpected argument '--%.*s' found", STR_ARG(name));
	if (option->kind == CLI_FLAG && eq >= 0)
		return error_set(reader->err, ERR_usage,
		                 "unexpected value '%s' for '--%s' found; no more were expected", text + eq + 1,
		                 option->name);
	if (option->kind == CLI_FLAG)
		return store_flag(reader, option);
	if (eq >= 0)
		return store(reader, option, text + eq + 1);
	if (reader->at >= reader->argc)
		return missing_value(reader, option);
	return store(reader, option, reader->argv[reader->at++]);
}

/* -x, -xVALUE, -x VALUE, -x=VALUE, and flags in a row */
static int read_letters(struct reader *reader, const char *text)
{
	for (; *text; text++) {
		const struct cli_option *option = find_letter(reader->command, *text);
		if (!option)
			return error_set(reader->err, ERR_usage, "unexpected argument '-%c' found", *text);
		if (option->kind == CLI_FLAG) {
			store_flag(reader, option);
			continue;
		}
		if (text[1])
			return store(reader, option, text[1] == '=' ? text + 2 : text + 1);
		if (reader->at >= reader->argc)
			return missing_value(reader, option);
		return store(reader, option, reader->argv[reader->at++]);
	}
	return 0;
}

static int read_positional(struct reader *reader, struct cli_result *result, const char *text)
{
	if (result->positionals.count == reader->command->most_positionals)
		return error_set(reader->err, ERR_usage, "unexpected argument '%s' found", text);
	list_push(&result->positionals, text);
	return 0;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, void *options, struct cli_result *result,
              struct error *err)
{
	struct reader reader = {command, argv, argc, 1, options, err};
	bool only_positionals = false;
	int status = 0;
	*result = (struct cli_result){0};
	while (status == 0 && reader.at < argc) {
		const char *text = argv[reader.at++];
		if (only_positionals || text[0] != '-' || !text[1])
			status = read_positional(&reader, result, text);
		else if (strcmp(text, "--") == 0)
			only_positionals = true;
		else if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0)
			result->wants_help = true;
		else
			status = text[1] == '-' ? read_long(&reader, text + 2) : read_letters(&reader, text + 1);
	}
	return result->wants_help ? 0 : status;
}

void cli_finish(const struct cli_command *command, void *options, struct cli_result *result)
{
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].kind != CLI_LIST)
			continue;
		struct cli_list *list = (struct cli_list *)(void *)((char *)options + command->options[i].offset);
		vec_finish(list);
	}
	vec_finish(&result->positionals);
}

static void print_option(const struct cli_option *option)
{
	char head[96];
	int len = option->letter ? snprintf(head, sizeof(head), "  -%c, --%s", option->letter, option->name)
	                         : snprintf(head, sizeof(head), "      --%s", option->name);
	if (option->kind != CLI_FLAG)
		snprintf(head + len, sizeof(head) - (size_t)len, " <%s>", option->value);
	printf("%-36s %s\n", head, option->doc);
	if (option->choices)
		printf("%-36s (%s)\n", "", option->choices);
}

void cli_print_help(const struct cli_command *command)
{
	printf("%s\n\n%s\n", command->about, command->usage);
	if (command->details)
		printf("\n%s", command->details);
	printf("\nOptions:\n");
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].doc)
			print_option(&command->options[i]);
	}
	printf("%-36s %s\n", "  -h, --help", "Show this text");
}

int cli_print_error(const struct cli_command *command, const struct error *err)
{
	fprintf(stderr, "error: %s\n\n%s\n\nFor more information, try '--help'.\n", err->text, command->usage);
	return error_exit_status(ERR_usage);
}
