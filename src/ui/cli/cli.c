/* getopt is not used, because its static state and its messages do not suit subcommands whose options, help and
 * completion come from one table. A value never starts with a dash unless "=" precedes it, so that a missing value
 * does not swallow the next option. */
#include "ui/cli/cli.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/suggest.h"
#include "base/text.h"
#include "config/feature.h"

struct str cli_nearest(struct str wrong, const char *(*name_at)(size_t index))
{
	struct suggest suggest = {.wrong = wrong};
	const char *name;
	for (size_t i = 0; (name = name_at(i)) != NULL; i++)
		suggest_offer(&suggest, str_of(name));
	return suggest.best;
}

int cli_check_feature(const char *name, struct error *err)
{
	if (feature_is_known(str_of(name)))
		return 0;
	struct str nearest = cli_nearest(str_of(name), feature_name_at);
	if (!nearest.ptr)
		return error_set(err, ERR_config, "Unknown feature flag: %s (`codex features list` shows all)", name);
	return error_set(err, ERR_config, "Unknown feature flag: %s; a similar one is `%.*s`", name, STR_ARG(nearest));
}

struct reader {
	const struct cli_command *command;
	char **argv;
	int argc;
	int at;
	void *options;               /* NULL: values are checked and discarded */
	bool looks;                  /* only for the first positional */
	struct cli_list switched[2]; /* the names after --enable and --disable */
	struct cli_result *result;
	struct error *err;
};

/* ---- mistakes ---- */

static void suggest_options(const struct cli_command *command, struct suggest *suggest)
{
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].doc)
			suggest_offer(suggest, str_of(command->options[i].name));
	}
	suggest_offer(suggest, STR("help"));
	suggest_offer(suggest, STR("version"));
}

static int unexpected_option(const struct reader *reader, const char *dashes, struct str name)
{
	struct suggest suggest = {.wrong = name};
	if (dashes[1])
		suggest_options(reader->command, &suggest);
	if (suggest.best.ptr)
		return error_set(reader->err, ERR_usage,
		                 "unexpected argument '--%.*s' found\n\n  tip: a similar argument exists: '--%.*s'",
		                 STR_ARG(name), STR_ARG(suggest.best));
	if (reader->command->most_positionals)
		return error_set(reader->err, ERR_usage,
		                 "unexpected argument '%s%.*s' found\n\n"
		                 "  tip: to pass '%s%.*s' as a value, use '-- %s%.*s'",
		                 dashes, STR_ARG(name), dashes, STR_ARG(name), dashes, STR_ARG(name));
	return error_set(reader->err, ERR_usage, "unexpected argument '%s%.*s' found", dashes, STR_ARG(name));
}

static int unexpected_positional(const struct reader *reader, const char *text)
{
	bool wants_word = !reader->command->most_positionals && reader->command->word_count && !reader->result->word;
	if (wants_word)
		return cli_unknown_word(reader->command, text, reader->err);
	const struct cli_command *command = reader->command;
	size_t count = command->argument_count;
	bool has_prompt = count && str_is(str_of(command->arguments[count - 1].name), "[PROMPT]");
	return error_set(reader->err, ERR_usage, "unexpected argument '%s' found%s", text,
	                 has_prompt ? "\n\n  tip: put quotes around the prompt" : "");
}

static void append_choices(struct buf *out, const struct cli_option *option)
{
	struct str rest = str_of(option->choices), word;
	const char *before = "\n  [possible values: ";
	if (!option->choices)
		return;
	while (str_next_part(&rest, '|', &word)) {
		buf_printf(out, "%s%.*s", before, STR_ARG(word));
		before = ", ";
	}
	buf_append_char(out, ']');
}

static int missing_value(const struct reader *reader, const struct cli_option *option)
{
	auto_buf struct buf choices;
	buf_init(&choices, KIB);
	append_choices(&choices, option);
	return error_set(reader->err, ERR_invalid, "a value is required for '--%s <%s>' but none was supplied%.*s",
	                 option->name, option->value, STR_ARG(buf_str(&choices)));
}

static int wrong_value(const struct reader *reader, const struct cli_option *option, const char *value)
{
	auto_buf struct buf hints;
	buf_init(&hints, KIB);
	append_choices(&hints, option);
	struct suggest suggest = {.wrong = str_of(value)};
	struct str rest = str_of(option->choices), word;
	while (str_next_part(&rest, '|', &word))
		suggest_offer(&suggest, word);
	if (suggest.best.ptr)
		buf_printf(&hints, "\n\n  tip: a similar value exists: '%.*s'", STR_ARG(suggest.best));
	return error_set(reader->err, ERR_invalid, "invalid value '%s' for '--%s <%s>'%.*s", value, option->name,
	                 option->value, STR_ARG(buf_str(&hints)));
}

/* ---- options ---- */

/* The options that every command takes, as in codex 0.169. Most tables have them for their help. */
static const struct cli_option general[] = {
	{.name = "config", .letter = 'c', .kind = CLI_LIST, .value = "key=value"},
	{.name = "enable", .kind = CLI_LIST, .value = "FEATURE"},
	{.name = "disable", .kind = CLI_LIST, .value = "FEATURE"},
};

static bool is_general(const struct cli_option *option)
{
	return option >= general && option < general + countof(general);
}

static const struct cli_option *find_in(const struct cli_option *rows, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++) {
		if (str_is(name, rows[i].name))
			return &rows[i];
	}
	return NULL;
}

static const struct cli_option *find_name(const struct cli_command *command, struct str name)
{
	const struct cli_option *own = find_in(command->options, command->option_count, name);
	return own ? own : find_in(general, countof(general), name);
}

static const struct cli_option *find_letter(const struct cli_command *command, char letter)
{
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].letter == letter)
			return &command->options[i];
	}
	return letter == general[0].letter ? &general[0] : NULL;
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

static int store_general(struct reader *reader, const struct cli_option *option, const char *value)
{
	bool is_feature = option != &general[0];
	if (is_feature && cli_check_feature(value, reader->err) != 0)
		return -ERR_config;
	if (reader->looks)
		return 0;
	if (is_feature)
		vec_push(&reader->switched[option - &general[1]], value);
	else
		vec_push(&reader->result->overrides, xstrdup(value));
	return 0;
}

/* As in codex 0.169, --enable takes precedence over -c, and --disable over both, in any order. */
static void store_switches(struct reader *reader)
{
	const struct cli_command *command = reader->command;
	const struct cli_option *config = find_in(command->options, command->option_count, STR("config"));
	for (size_t i = 0; i < countof(reader->switched); i++) {
		for (size_t k = 0; k < reader->switched[i].count; k++) {
			char *text = xasprintf("features.%s=%s", reader->switched[i].items[k], i ? "false" : "true");
			vec_push(&reader->result->overrides, text);
			if (config && config->kind == CLI_LIST && reader->options)
				vec_push((struct cli_list *)(void *)((char *)reader->options + config->offset), text);
		}
		vec_finish(&reader->switched[i]);
	}
}

static int store(struct reader *reader, const struct cli_option *option, const char *value)
{
	if (is_general(option))
		return store_general(reader, option, value);
	if (!is_choice(option, value))
		return wrong_value(reader, option, value);
	if (!reader->options)
		return 0;
	void *slot = (char *)reader->options + option->offset;
	if (option->kind == CLI_TEXT)
		*(const char **)slot = value;
	else
		vec_push((struct cli_list *)slot, value);
	return 0;
}

static void store_flag(struct reader *reader, const struct cli_option *option)
{
	if (reader->options)
		*(bool *)((char *)reader->options + option->offset) = true;
}

static bool is_dashed(const char *text)
{
	return text[0] == '-' && text[1];
}

/* codex 0.169 gives such an option all words up to the next option, the prompt included. Files alone are taken here,
 * so that a prompt can follow. */
static int store_files(struct reader *reader, const struct cli_option *option)
{
	int status = 0;
	while (status == 0 && reader->at < reader->argc && !is_dashed(reader->argv[reader->at]) &&
	       file_exists(reader->argv[reader->at]))
		status = store(reader, option, reader->argv[reader->at++]);
	return status;
}

static int store_next(struct reader *reader, const struct cli_option *option)
{
	if (reader->at >= reader->argc || is_dashed(reader->argv[reader->at]))
		return missing_value(reader, option);
	int status = store(reader, option, reader->argv[reader->at++]);
	return status == 0 && option->kind == CLI_FILES ? store_files(reader, option) : status;
}

/* Handles the two options that every command has. */
static bool read_builtin(struct reader *reader, struct str name)
{
	bool is_help = str_is(name, "help") || str_is(name, "h");
	bool is_version = str_is(name, "version") || str_is(name, "V");
	reader->result->wants_help |= is_help;
	reader->result->wants_version |= is_version;
	return is_help || is_version;
}

static int read_long(struct reader *reader, const char *text)
{
	struct str name = str_of(text);
	ptrdiff_t eq = str_find_char(name, '=');
	if (eq >= 0)
		name.len = (size_t)eq;
	const struct cli_option *option = find_name(reader->command, name);
	if (!option)
		return name.len > 1 && read_builtin(reader, name) ? 0 : unexpected_option(reader, "--", name);
	if (option->kind == CLI_FLAG && eq >= 0)
		return error_set(reader->err, ERR_usage,
		                 "unexpected value '%s' for '--%s' found; no more were expected", text + eq + 1,
		                 option->name);
	if (eq >= 0)
		return store(reader, option, text + eq + 1);
	if (option->kind != CLI_FLAG)
		return store_next(reader, option);
	store_flag(reader, option);
	return 0;
}

static struct str first_char(const char *text)
{
	size_t len = text_utf8_len(str_of(text));
	return str_n(text, len ? len : 1);
}

/* Reads -x, -xVALUE, -x VALUE, -x=VALUE, and combined flags. */
static int read_letters(struct reader *reader, const char *text)
{
	for (; *text; text++) {
		const struct cli_option *option = find_letter(reader->command, *text);
		if (!option && read_builtin(reader, str_n(text, 1)))
			continue;
		if (!option)
			return unexpected_option(reader, "-", first_char(text));
		if (option->kind != CLI_FLAG)
			return text[1] ? store(reader, option, text[1] == '=' ? text + 2 : text + 1)
			               : store_next(reader, option);
		store_flag(reader, option);
	}
	return 0;
}

static int read_option(struct reader *reader, const char *text)
{
	return text[1] == '-' ? read_long(reader, text + 2) : read_letters(reader, text + 1);
}

/* ---- words and positionals ---- */

const struct cli_word *cli_find_word(const struct cli_command *command, const char *text)
{
	for (size_t i = 0; i < command->word_count; i++) {
		const struct cli_word *word = &command->words[i];
		if (strcmp(word->word, text) == 0 || (word->other && strcmp(word->other, text) == 0))
			return word;
	}
	return NULL;
}

/* Lists all words if they fit into a short line. */
static void append_words(struct buf *out, const struct cli_command *command)
{
	enum { WORDS_SHORT = 6 };
	const char *before = "\n  [possible values: ";
	if (command->word_count > WORDS_SHORT)
		return;
	for (size_t i = 0; i < command->word_count; i++) {
		if (!command->words[i].doc)
			continue;
		buf_printf(out, "%s%s", before, command->words[i].word);
		before = ", ";
	}
	if (out->len)
		buf_append_char(out, ']');
}

int cli_unknown_word(const struct cli_command *command, const char *text, struct error *err)
{
	auto_buf struct buf words;
	struct suggest suggest = {.wrong = str_of(text)};
	for (size_t i = 0; i < command->word_count; i++) {
		if (command->words[i].doc)
			suggest_offer(&suggest, str_of(command->words[i].word));
	}
	buf_init(&words, KIB);
	append_words(&words, command);
	if (!suggest.best.ptr)
		return error_set(err, ERR_usage, "unrecognized subcommand '%s'%.*s", text, STR_ARG(buf_str(&words)));
	return error_set(err, ERR_usage, "unrecognized subcommand '%s'\n\n  tip: a similar subcommand exists: '%.*s'",
	                 text, STR_ARG(suggest.best));
}

static int read_positional(struct reader *reader, const char *text, bool is_literal)
{
	struct cli_result *result = reader->result;
	bool is_first = !result->word && !result->positionals.count;
	if (is_first && !is_literal)
		result->word = cli_find_word(reader->command, text);
	if (is_first && result->word)
		return 0;
	if (result->positionals.count == reader->command->most_positionals)
		return unexpected_positional(reader, text);
	vec_push(&result->positionals, text);
	return 0;
}

/* True for `codex exec help`, which prints the help unless other words follow. */
static bool is_plea(const struct reader *reader, const char *text)
{
	return reader->argc == 2 && reader->command->word_count && strcmp(text, "help") == 0;
}

/* Returns ERR_usage, or ERR_invalid if only a value is wrong, in which case printing the usage would not help. */
static int parse(const struct cli_command *command, int argc, char **argv, void *options, struct cli_result *result,
                 struct error *err)
{
	struct reader reader = {command, argv, argc, 1, options, false, {{0}}, result, err};
	bool is_literal = false;
	int status = 0;
	*result = (struct cli_result){0};
	while (status == 0 && reader.at < argc) {
		const char *text = argv[reader.at++];
		if (!is_literal && is_plea(&reader, text))
			result->wants_help = true;
		else if (is_literal || !is_dashed(text))
			status = read_positional(&reader, text, is_literal);
		else if (strcmp(text, "--") == 0)
			is_literal = true;
		else
			status = read_option(&reader, text);
	}
	store_switches(&reader);
	return result->wants_help || result->wants_version ? 0 : status;
}

int cli_find_positional(const struct cli_command *command, int argc, char **argv, int *ret_at,
                        struct cli_result *result, struct error *err)
{
	struct reader reader = {command, argv, argc, 1, NULL, true, {{0}}, result, err};
	int status = 0;
	*result = (struct cli_result){0};
	while (status == 0 && reader.at < argc && is_dashed(argv[reader.at]) && strcmp(argv[reader.at], "--") != 0) {
		const char *text = argv[reader.at++];
		status = read_option(&reader, text);
	}
	*ret_at = reader.at;
	return result->wants_help || result->wants_version ? 0 : status;
}

const struct cli_word *cli_move_word(const struct cli_command *command, char **argv, int at)
{
	char *text = argv[at];
	const struct cli_word *word = text ? cli_find_word(command, text) : NULL;
	if (!word)
		return NULL;
	memmove(&argv[2], &argv[1], sizeof(*argv) * (size_t)(at - 1));
	argv[1] = text;
	return word;
}

int cli_read(const struct cli_command *command, int argc, char **argv, void *options, struct cli_result *result)
{
	struct error err;
	if (parse(command, argc, argv, options, result, &err) != 0)
		return cli_print_error(command, &err);
	if (!result->wants_help && !result->wants_version)
		return -1;
	if (result->wants_help)
		cli_print_help(command, STDOUT_FILENO);
	else
		cli_print_version(command);
	return 0;
}

void cli_finish(const struct cli_command *command, void *options, struct cli_result *result)
{
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].kind != CLI_LIST && command->options[i].kind != CLI_FILES)
			continue;
		void *slot = (char *)options + command->options[i].offset;
		vec_finish((struct cli_list *)slot);
	}
	vec_finish(&result->positionals);
	vec_for_each(text, &result->overrides)
		free(*text);
	vec_finish(&result->overrides);
}
