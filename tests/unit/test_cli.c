/* Command lines: valid and invalid ones, and the error texts. */
#include "test.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "ui/cli/cli.h"
#include "ui/exec/exec_options.h"
#include "ui/tools/login.h"
#include "ui/serve/mock_command.h"

struct options {
	const char *model, *mode;
	struct cli_list list;
	bool all, json;
};

static const struct cli_option rows[] = {
	{"model", 'm', CLI_TEXT, offsetof(struct options, model), "MODEL", NULL, "Model to ask"},
	{"mode", 's', CLI_TEXT, offsetof(struct options, mode), "MODE", "read-only|write", "What may be touched"},
	{"config", 'c', CLI_LIST, offsetof(struct options, list), "key=value", NULL, "A setting"},
	{"all", 'a', CLI_FLAG, offsetof(struct options, all), NULL, NULL, "All of them"},
	{"json", 'j', CLI_FLAG, offsetof(struct options, json), NULL, NULL, "JSON"},
	{"old-name", 0, CLI_FLAG, offsetof(struct options, json), NULL, NULL, NULL},
};

static const struct cli_word row_words[] = {{.word = "resume", .other = "r", .doc = "Go on"}, {.word = "hidden"}};

static const struct cli_command tool = {
	.name = "codex tool",
	.about = "A tool.",
	.usage = "Usage: codex tool [OPTIONS] [TEXT]",
	.words = row_words,
	.word_count = countof(row_words),
	.options = rows,
	.option_count = countof(rows),
	.most_positionals = 2,
};

static const struct cli_command bare = {.name = "codex bare", .about = "Bare.", .usage = "Usage: codex bare"};

static const struct cli_command only_words = {
	.name = "codex words",
	.about = "Words.",
	.usage = "Usage: codex words",
	.words = row_words,
	.word_count = countof(row_words),
};

struct line {
	struct options options;
	struct cli_result result;
	int status;         /* the result of cli_read */
	char printed[4096]; /* its output on stdout and stderr */
};

/* ---- output ---- */

struct capture {
	int file, out, err;
};

static void capture_start(struct capture *capture)
{
	fflush(NULL);
	*capture = (struct capture){memfd_create("printed", MFD_CLOEXEC), dup(STDOUT_FILENO), dup(STDERR_FILENO)};
	dup2(capture->file, STDOUT_FILENO);
	dup2(capture->file, STDERR_FILENO);
}

static void capture_end(struct capture *capture, char *ret, size_t size)
{
	fflush(NULL);
	dup2(capture->out, STDOUT_FILENO);
	dup2(capture->err, STDERR_FILENO);
	ssize_t len = pread(capture->file, ret, size - 1, 0);
	assert_in_range(len, 0, size - 1);
	ret[len] = '\0';
	close(capture->file);
	close(capture->out);
	close(capture->err);
}

static void print_help(const struct cli_command *command, char *ret, size_t size)
{
	struct capture capture;
	capture_start(&capture);
	cli_print_help(command, STDOUT_FILENO);
	capture_end(&capture, ret, size);
}

static void parse(struct line *line, const struct cli_command *command, const char *const *argv)
{
	int argc = 0;
	while (argv[argc])
		argc++;
	*line = (struct line){0};
	struct capture capture;
	capture_start(&capture);
	line->status = cli_read(command, argc, (char **)(uintptr_t)argv, &line->options, &line->result);
	capture_end(&capture, line->printed, sizeof(line->printed));
}

static void finish(struct line *line)
{
	cli_finish(&tool, &line->options, &line->result);
}

#define PARSE(line, ...) parse(line, &tool, (const char *const[]){"tool", __VA_ARGS__, NULL})

static void test_every_way_to_give_a_value(void **state)
{
	static const char *const lines[][4] = {
		{"tool", "--model", "x"}, {"tool", "--model=x"}, {"tool", "-m", "x"},
		{"tool", "-mx"},          {"tool", "-m=x"},      {"tool", "-ajmx"},
	};
	(void)state;
	for (size_t i = 0; i < countof(lines); i++) {
		struct line line;
		parse(&line, &tool, lines[i]);
		assert_int_equal(line.status, -1);
		assert_string_equal(line.options.model, "x");
		assert_int_equal(line.result.positionals.count, 0);
		finish(&line);
	}
}

static void test_values_that_look_odd(void **state)
{
	struct line line;
	(void)state;
	PARSE(&line, "--model=-x", "--config=a=b", "-c", "c=d=e", "-c=", "-");
	assert_int_equal(line.status, -1);
	assert_string_equal(line.options.model, "-x");
	assert_int_equal(line.options.list.count, 3);
	assert_string_equal(line.options.list.items[0], "a=b");
	assert_string_equal(line.options.list.items[1], "c=d=e");
	assert_string_equal(line.options.list.items[2], "");
	assert_string_equal(line.result.positionals.items[0], "-");
	finish(&line);
}

static void test_last_value_counts(void **state)
{
	struct line line;
	(void)state;
	PARSE(&line, "-m", "a", "--model=b");
	assert_string_equal(line.options.model, "b");
	finish(&line);
}

static void test_flags_alone_and_in_a_row(void **state)
{
	struct line line;
	(void)state;
	PARSE(&line, "--all");
	assert_true(line.options.all && !line.options.json);
	finish(&line);
	PARSE(&line, "-aj");
	assert_true(line.options.all && line.options.json);
	finish(&line);
	PARSE(&line, "--old-name");
	assert_true(!line.options.all && line.options.json);
	finish(&line);
}

static void test_options_and_positionals_mix(void **state)
{
	struct line line;
	(void)state;
	PARSE(&line, "one", "-a", "two", "--mode", "write");
	assert_int_equal(line.status, -1);
	assert_int_equal(line.result.positionals.count, 2);
	assert_string_equal(line.result.positionals.items[1], "two");
	assert_string_equal(line.options.mode, "write");
	assert_null(line.result.word);
	finish(&line);
}

static void test_dashes_end_options(void **state)
{
	struct line line;
	(void)state;
	PARSE(&line, "-a", "--", "--json", "--");
	assert_int_equal(line.status, -1);
	assert_false(line.options.json);
	assert_string_equal(line.result.positionals.items[0], "--json");
	assert_string_equal(line.result.positionals.items[1], "--");
	finish(&line);
}

static void test_a_word_is_one_only_in_front(void **state)
{
	struct line line;
	(void)state;
	PARSE(&line, "-a", "r", "resume");
	assert_ptr_equal(line.result.word, &row_words[0]);
	assert_int_equal(line.result.positionals.count, 1);
	finish(&line);
	PARSE(&line, "text", "resume");
	assert_null(line.result.word);
	assert_int_equal(line.result.positionals.count, 2);
	finish(&line);
	PARSE(&line, "--", "resume");
	assert_null(line.result.word);
	assert_string_equal(line.result.positionals.items[0], "resume");
	finish(&line);
}

static void test_help_and_version(void **state)
{
	struct line line;
	(void)state;
	PARSE(&line, "-h");
	assert_true(line.status == 0 && line.result.wants_help);
	finish(&line);
	PARSE(&line, "resume", "--help", "--no-such");
	assert_true(line.status == 0 && line.result.wants_help);
	finish(&line);
	PARSE(&line, "help");
	assert_true(line.result.wants_help);
	finish(&line);
	PARSE(&line, "help", "me");
	assert_false(line.result.wants_help);
	finish(&line);
	PARSE(&line, "--", "--help");
	assert_false(line.result.wants_help);
	finish(&line);
	PARSE(&line, "-aV");
	assert_true(line.status == 0 && line.result.wants_version);
	finish(&line);
}

struct refusal {
	const struct cli_command *command;
	const char *argv[6];
	enum error_code code;
	const char *text;
};

static void test_refusals(void **state)
{
	static const struct refusal refusals[] = {
		{&tool,
	         {"t", "--modle", "x"},
	         ERR_usage,
	         "unexpected argument '--modle' found\n\n"
	         "  tip: a similar argument exists: '--model'"},
		{&tool,
	         {"t", "--hepl"},
	         ERR_usage,
	         "unexpected argument '--hepl' found\n\n"
	         "  tip: a similar argument exists: '--help'"},
		{&tool,
	         {"t", "--conf=x"},
	         ERR_usage,
	         "unexpected argument '--conf' found\n\n"
	         "  tip: a similar argument exists: '--config'"},
		{&tool,
	         {"t", "--quite-other"},
	         ERR_usage,
	         "unexpected argument '--quite-other' found\n\n"
	         "  tip: to pass '--quite-other' as a value, "
	         "use '-- --quite-other'"},
		{&tool,
	         {"t", "--old-nam"},
	         ERR_usage,
	         "unexpected argument '--old-nam' found\n\n"
	         "  tip: to pass '--old-nam' as a value, use '-- --old-nam'"},
		{&tool,
	         {"t", "-x"},
	         ERR_usage,
	         "unexpected argument '-x' found\n\n"
	         "  tip: to pass '-x' as a value, use '-- -x'"},
		{&tool,
	         {"t", "-a\xc3\xa9"},
	         ERR_usage,
	         "unexpected argument '-\xc3\xa9' found\n\n"
	         "  tip: to pass '-\xc3\xa9' as a value, use '-- -\xc3\xa9'"},
		{&tool,
	         {"t", "--h"},
	         ERR_usage,
	         "unexpected argument '--h' found\n\n"
	         "  tip: to pass '--h' as a value, use '-- --h'"},
		{&bare, {"t", "-x"}, ERR_usage, "unexpected argument '-x' found"},
		{&bare, {"t", "more"}, ERR_usage, "unexpected argument 'more' found"},
		{&tool, {"t", "a", "b", "c"}, ERR_usage, "unexpected argument 'c' found"},
		{&only_words,
	         {"t", "resum"},
	         ERR_usage,
	         "unrecognized subcommand 'resum'\n\n"
	         "  tip: a similar subcommand exists: 'resume'"},
		{&only_words, {"t", "what"}, ERR_usage, "unrecognized subcommand 'what'\n  [possible values: resume]"},
		{&only_words, {"t", "resume", "what"}, ERR_usage, "unexpected argument 'what' found"},
		{&tool, {"t", "--json=1"}, ERR_usage, "unexpected value '1' for '--json' found; no more were expected"},
		{&tool,
	         {"t", "--model"},
	         ERR_invalid,
	         "a value is required for '--model <MODEL>' but none was supplied"},
		{&tool,
	         {"t", "-m", "--json"},
	         ERR_invalid,
	         "a value is required for '--model <MODEL>' but none was "
	         "supplied"},
		{&tool,
	         {"t", "-as"},
	         ERR_invalid,
	         "a value is required for '--mode <MODE>' but none was supplied\n"
	         "  [possible values: read-only, write]"},
		{&tool,
	         {"t", "--mode", "x"},
	         ERR_invalid,
	         "invalid value 'x' for '--mode <MODE>'\n"
	         "  [possible values: read-only, write]"},
		{&tool,
	         {"t", "-sreadonly"},
	         ERR_invalid,
	         "invalid value 'readonly' for '--mode <MODE>'\n"
	         "  [possible values: read-only, write]\n\n"
	         "  tip: a similar value exists: 'read-only'"},
		{&tool,
	         {"t", "--mode="},
	         ERR_invalid,
	         "invalid value '' for '--mode <MODE>'\n"
	         "  [possible values: read-only, write]"},
	};
	(void)state;
	for (size_t i = 0; i < countof(refusals); i++) {
		struct line line;
		parse(&line, refusals[i].command, refusals[i].argv);
		bool shows_usage = refusals[i].code == ERR_usage;
		auto_free char *text =
			xasprintf("error: %s\n\n%s%sFor more information, try '--help'.\n", refusals[i].text,
		                  shows_usage ? refusals[i].command->usage : "", shows_usage ? "\n\n" : "");
		assert_int_equal(line.status, 2);
		assert_string_equal(line.printed, text);
		finish(&line);
	}
}

static void test_hostile_lengths(void **state)
{
	struct line line;
	char *text = xmalloc(100001);
	(void)state;
	memset(text, '-', 100000);
	text[100000] = 0;
	PARSE(&line, text);
	assert_int_equal(line.status, 2);
	finish(&line);
	memset(text + 1, 'x', 99999);
	PARSE(&line, text);
	assert_int_equal(line.status, 2);
	finish(&line);
	PARSE(&line, "--mode", text + 1);
	assert_int_equal(line.status, 2);
	finish(&line);
	free(text);
}

static void test_options_in_front_of_the_word(void **state)
{
	const char *argv[] = {"codex", "-am", "x", "--mode=write", "exec", "-q", NULL};
	struct cli_result result;
	struct error err;
	int at = 0;
	(void)state;
	assert_int_equal(cli_find_positional(&tool, 6, (char **)(uintptr_t)argv, &at, &result, &err), 0);
	assert_int_equal(at, 4);
	argv[3] = "--mode=none";
	assert_int_equal(cli_find_positional(&tool, 6, (char **)(uintptr_t)argv, &at, &result, &err), -ERR_invalid);
	argv[3] = "--version";
	assert_int_equal(cli_find_positional(&tool, 6, (char **)(uintptr_t)argv, &at, &result, &err), 0);
	assert_true(result.wants_version);
	assert_int_equal(cli_find_positional(&tool, 1, (char **)(uintptr_t)argv, &at, &result, &err), 0);
	assert_int_equal(at, 1);
}

/* Returns the suggestion in the error for a wrong subcommand; "" if there is no suggestion. */
static const char *nearest(const char *wrong, const char *words)
{
	static char found[64];
	static const char quote[] = "a similar subcommand exists: '";
	struct cli_word list[4] = {0};
	struct cli_command command = {.name = "codex", .words = list};
	auto_free char *text = xstrdup(words);
	struct error err;
	for (char *save, *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		list[command.word_count++] = (struct cli_word){.word = word, .doc = "A command."};
	assert_int_equal(cli_unknown_word(&command, wrong, &err), -ERR_usage);
	const char *start = strstr(err.text, quote);
	snprintf(found, sizeof(found), "%s", start ? start + strlen(quote) : "");
	found[strcspn(found, "'")] = 0;
	return found;
}

static void test_suggestions(void **state)
{
	(void)state;
	assert_string_equal(nearest("exce", "login exec"), "exec");  /* two letters are swapped */
	assert_string_equal(nearest("exc", "login exec"), "exec");   /* a letter is missing */
	assert_string_equal(nearest("exexc", "login exec"), "exec"); /* a letter is inserted */
	assert_string_equal(nearest("skip", "login skip-git-repo-check"), "skip-git-repo-check");
	assert_string_equal(nearest("logn", "logout login"), "login"); /* the nearest word wins, not the first one */
	assert_string_equal(nearest("log", "logout login"), "logout"); /* the first of equally near words wins */
	assert_string_equal(nearest("l", "logout login"), "");
	assert_string_equal(nearest("exec", ""), "");
	assert_string_equal(nearest("", "exec"), "");
	assert_string_equal(nearest("abcdef", "uvwxyz"), "");
}

static void test_help_fits_the_page(void **state)
{
	const struct cli_command *commands[] = {&tool, &exec_command, &login_command, &logout_command,
	                                        &mock_model_command};
	(void)state;
	for (size_t i = 0; i < countof(commands); i++) {
		char help[16 * KIB];
		print_help(commands[i], help, sizeof(help));
		struct str rest = str_of(help), line;
		bool has_usage = false;
		while (str_next_line(&rest, &line)) {
			if (line.len > 80)
				fail_msg("%s: too long: %.*s", commands[i]->name, STR_ARG(line));
			has_usage |= str_has_prefix(line, "Usage: codex ");
		}
		assert_true(has_usage);
	}
}

static void test_help_lists_commands_with_a_text(void **state)
{
	char help[16 * KIB];
	(void)state;
	print_help(&tool, help, sizeof(help));
	assert_str(str_of(help), "A tool.\n"
	                         "\n"
	                         "Usage: codex tool [OPTIONS] [TEXT]\n"
	                         "\n"
	                         "Commands:\n"
	                         "  resume        Go on\n"
	                         "\n"
	                         "Options:\n"
	                         "  -m, --model <MODEL>         Model to ask\n"
	                         "  -s, --mode <MODE>           What may be touched [read-only, write]\n"
	                         "  -c, --config <key=value>    A setting\n"
	                         "  -a, --all                   All of them\n"
	                         "  -j, --json                  JSON\n"
	                         "  -h, --help                  Show this text\n"
	                         "  -V, --version               Show the version\n");
}

/* ---- codex exec ---- */

static int read_exec(struct exec_options *options, struct cli_result *result, const char *const *argv)
{
	int argc = 0;
	while (argv[argc])
		argc++;
	return exec_options_read(&exec_command, options, result, argc, (char **)(uintptr_t)argv);
}

#define EXEC(options, result, ...) read_exec(options, result, (const char *const[]){"exec", __VA_ARGS__, NULL})

static void test_exec_prompt_and_options(void **state)
{
	struct exec_options options;
	struct cli_result result;
	(void)state;
	assert_int_equal(EXEC(&options, &result, "-s", "workspace-write", "--yolo", "do it", "--experimental-json"),
	                 -1);
	assert_string_equal(options.prompt, "do it");
	assert_string_equal(options.sandbox, "workspace-write");
	assert_true(options.bypass && options.json && !options.resume);
	exec_options_finish(&options, &result);
}

static void test_exec_resume(void **state)
{
	struct exec_options options;
	struct cli_result result;
	(void)state;
	assert_int_equal(EXEC(&options, &result, "--json", "resume", "id", "-m", "x", "more"), -1);
	assert_true(options.resume);
	assert_string_equal(options.resume_id, "id");
	assert_string_equal(options.prompt, "more");
	exec_options_finish(&options, &result);
	assert_int_equal(EXEC(&options, &result, "resume", "--last", "more"), -1);
	assert_true(options.resume && !options.resume_id);
	assert_string_equal(options.prompt, "more");
	exec_options_finish(&options, &result);
	assert_int_equal(EXEC(&options, &result, "resume", "-"), -1); /* an id may be any text */
	assert_string_equal(options.resume_id, "-");
	exec_options_finish(&options, &result);
}

static void test_exec_review(void **state)
{
	struct exec_options options;
	struct cli_result result;
	(void)state;
	assert_int_equal(EXEC(&options, &result, "review", "--commit", "abc", "--title", "T", "--json"), -1);
	assert_true(options.is_review && options.json && !options.resume && !options.prompt);
	assert_string_equal(options.review.commit, "abc");
	assert_string_equal(options.review.title, "T");
	exec_options_finish(&options, &result);
	assert_int_equal(EXEC(&options, &result, "review", "look here"), -1);
	assert_string_equal(options.prompt, "look here");
	exec_options_finish(&options, &result);
	const char *const argv[] = {"review", "--uncommitted", NULL};
	assert_int_equal(exec_options_read(&review_command, &options, &result, 2, (char **)(uintptr_t)argv), -1);
	assert_true(options.is_review && options.review.uncommitted);
	exec_options_finish(&options, &result);
}

static void test_exec_refusals(void **state)
{
	/* clang-format off */
	static const char *const lines[][6] = {
		{"exec", "resume"},       {"exec", "--last", "x"},           {"exec", "--all"},
		{"exec", "two", "words"}, {"exec", "resume", "a", "b", "c"}, {"exec", "review"},
		{"exec", "fork"},         {"exec", "--base", "main", "x"},   {"exec", "--title", "t", "x"},
		{"exec", "review", "--uncommitted", "x"}, {"exec", "review", "--uncommitted", "--base", "m"},
		{"exec", "review", "--title", "t"}, {"exec", "review", "x", "-i", "f"}, {"exec", "review", "--last", "x"},
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < countof(lines); i++) {
		struct exec_options options;
		struct cli_result result;
		assert_int_equal(read_exec(&options, &result, lines[i]), 2);
		exec_options_finish(&options, &result);
	}
}

static void test_exec_words_as_prompts(void **state)
{
	struct exec_options options;
	struct cli_result result;
	(void)state;
	assert_int_equal(EXEC(&options, &result, "--", "resume"), -1);
	assert_false(options.resume);
	assert_string_equal(options.prompt, "resume");
	exec_options_finish(&options, &result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_way_to_give_a_value),
		cmocka_unit_test(test_values_that_look_odd),
		cmocka_unit_test(test_last_value_counts),
		cmocka_unit_test(test_flags_alone_and_in_a_row),
		cmocka_unit_test(test_options_and_positionals_mix),
		cmocka_unit_test(test_dashes_end_options),
		cmocka_unit_test(test_a_word_is_one_only_in_front),
		cmocka_unit_test(test_help_and_version),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_hostile_lengths),
		cmocka_unit_test(test_options_in_front_of_the_word),
		cmocka_unit_test(test_suggestions),
		cmocka_unit_test(test_help_fits_the_page),
		cmocka_unit_test(test_help_lists_commands_with_a_text),
		cmocka_unit_test(test_exec_prompt_and_options),
		cmocka_unit_test(test_exec_resume),
		cmocka_unit_test(test_exec_review),
		cmocka_unit_test(test_exec_refusals),
		cmocka_unit_test(test_exec_words_as_prompts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
