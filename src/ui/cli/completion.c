/* The scripts contain all words instead of running codex for each completion, so they are fast and work while the
 * binary is being replaced. */
#include "ui/cli/completion.h"

#include <stdio.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "ui/cli/completion_priv.h"

enum candidates completion_candidates(const struct cli_option *option)
{
	if (option->choices)
		return CANDIDATES_choices;
	if (option->kind == CLI_FLAG)
		return CANDIDATES_nothing;
	if (strcmp(option->value, "FILE") == 0)
		return CANDIDATES_files;
	return strcmp(option->value, "DIR") == 0 ? CANDIDATES_folders : CANDIDATES_nothing;
}

/* Writes "a|b|c" as "a b c". */
static void append_choices(struct buf *out, const char *choices)
{
	for (; *choices; choices++)
		buf_append_char(out, *choices == '|' ? ' ' : *choices);
}

/* Appends the words of the command that --help lists, each preceded by a blank. */
static void append_words(struct buf *out, const struct cli_command *command)
{
	for (size_t i = 0; i < command->word_count; i++) {
		if (command->words[i].doc)
			buf_printf(out, " %s", command->words[i].word);
	}
}

/* ---- bash ---- */

static const char bash_head[] =
	"# Completes codex command lines in bash: source <(codex completion bash)\n"
	"_codex() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= words= options= i\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tcase ${COMP_WORDS[i]} in\n";

static const char middle[] = "\t\t*) continue ;;\n"
			     "\t\tesac\n"
			     "\t\tbreak\n"
			     "\tdone\n"
			     "\tif [[ $cur == = ]]; then\n"
			     "\t\tcur=\n"
			     "\telif [[ $prev == = ]]; then\n"
			     "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
			     "\tfi\n"
			     "\tCOMPREPLY=()\n"
			     "\tcase \"$command $prev\" in\n";

static const char bash_tail[] = "\tesac\n"
				"\t[[ $cur == -* ]] && words=$options\n"
				"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
				"}\n"
				"complete -F _codex codex\n";

static void bash_append_after_option(struct buf *out, const char *command, const struct cli_option *option)
{
	static const char files[] = "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -%c -- \"$cur\"); return";
	buf_printf(out, "\t'%s --%s'", command, option->name);
	if (option->letter)
		buf_printf(out, " | '%s -%c'", command, option->letter);
	buf_append_c(out, ") ");
	enum candidates value = completion_candidates(option);
	if (value == CANDIDATES_choices) {
		buf_append_c(out, "words='");
		append_choices(out, option->choices);
		buf_append_char(out, '\'');
	} else if (value == CANDIDATES_files || value == CANDIDATES_folders) {
		buf_printf(out, files, value == CANDIDATES_files ? 'f' : 'd');
	} else {
		buf_append_c(out, "return");
	}
	buf_append_c(out, " ;;\n");
}

static void bash_append_here(struct buf *out, const char *name, const struct cli_command *command)
{
	buf_printf(out, "\t'%s '*)\n\t\twords='", name);
	append_words(out, command);
	buf_append_c(out, "'\n\t\toptions='--help --version");
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].doc)
			buf_printf(out, " --%s", command->options[i].name);
	}
	buf_append_c(out, "' ;;\n");
}

static void bash_append_word(struct buf *out, const struct cli_word *word)
{
	buf_printf(out, "\t\t%s", word->word);
	if (word->other)
		buf_printf(out, " | %s", word->other);
	buf_printf(out, ") command=%s ;;\n", word->word);
}

static void write_bash(const struct cli_command *program, struct buf *out)
{
	buf_append_c(out, bash_head);
	for (size_t i = 0; i < program->word_count; i++)
		bash_append_word(out, &program->words[i]);
	buf_append_c(out, middle);
	for (size_t i = 0; i < program->word_count; i++) {
		const struct cli_command *command = program->words[i].command;
		for (size_t k = 0; k < command->option_count; k++) {
			if (command->options[k].doc && command->options[k].kind != CLI_FLAG)
				bash_append_after_option(out, program->words[i].word, &command->options[k]);
		}
	}
	bash_append_here(out, "", program);
	for (size_t i = 0; i < program->word_count; i++)
		bash_append_here(out, program->words[i].word, program->words[i].command);
	buf_append_c(out, bash_tail);
}

/* ---- fish ---- */

static void fish_append_doc(struct buf *out, const char *doc)
{
	buf_append_c(out, " -d '");
	for (; *doc; doc++) {
		if (*doc == '\'' || *doc == '\\')
			buf_append_char(out, '\\');
		buf_append_char(out, *doc);
	}
	buf_append_c(out, "'\n");
}

static void fish_append_start(struct buf *out, const struct cli_word *word)
{
	buf_printf(out, "complete -c codex -n '__fish_seen_subcommand_from %s%s%s'", word->word, word->other ? " " : "",
	           word->other ? word->other : "");
}

static void fish_append_value(struct buf *out, const struct cli_option *option)
{
	enum candidates value = completion_candidates(option);
	if (option->kind == CLI_FLAG)
		return;
	if (value == CANDIDATES_choices) {
		buf_append_c(out, " -x -a '");
		append_choices(out, option->choices);
		buf_append_char(out, '\'');
	} else {
		buf_append_c(out, value == CANDIDATES_files     ? " -r -F"
		                  : value == CANDIDATES_folders ? " -x -a '(__fish_complete_directories)'"
		                                                : " -x");
	}
}

static void fish_append_option(struct buf *out, const struct cli_word *word, const struct cli_option *option)
{
	fish_append_start(out, word);
	buf_printf(out, " -l %s", option->name);
	if (option->letter)
		buf_printf(out, " -s %c", option->letter);
	fish_append_value(out, option);
	fish_append_doc(out, option->doc);
}

static void fish_append_command(struct buf *out, const struct cli_word *word)
{
	const struct cli_command *command = word->command;
	for (size_t i = 0; i < command->word_count; i++) {
		if (!command->words[i].doc)
			continue;
		fish_append_start(out, word);
		buf_printf(out, " -a %s", command->words[i].word);
		fish_append_doc(out, command->words[i].doc);
	}
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].doc)
			fish_append_option(out, word, &command->options[i]);
	}
}

static void write_fish(const struct cli_command *program, struct buf *out)
{
	buf_append_c(out, "# Completes codex command lines in fish: codex completion fish | source\n"
	                  "complete -c codex -f\n"
	                  "complete -c codex -s h -l help -d 'Show this text'\n"
	                  "complete -c codex -s V -l version -d 'Show the version'\n");
	for (size_t i = 0; i < program->option_count; i++) {
		if (!program->options[i].doc)
			continue;
		buf_printf(out, "complete -c codex -n __fish_use_subcommand -l %s", program->options[i].name);
		fish_append_doc(out, program->options[i].doc);
	}
	for (size_t i = 0; i < program->word_count; i++) {
		const struct cli_word *word = &program->words[i];
		if (!word->doc)
			continue;
		buf_printf(out, "complete -c codex -n __fish_use_subcommand -a %s", word->word);
		fish_append_doc(out, word->doc);
	}
	for (size_t i = 0; i < program->word_count; i++)
		fish_append_command(out, &program->words[i]);
}

/* ---- zsh ---- */

static const char zsh_head[] = "#compdef codex\n"
			       "# Completes codex command lines in zsh: source <(codex completion zsh)\n"
			       "_codex() {\n"
			       "\tlocal state line\n"
			       "\ttypeset -A opt_args\n"
			       "\t_arguments -C '1:command:((";

static const char builtin[] = " \\\n\t\t'(- *)'{-h,--help}'[Show this text]'"
			      " \\\n\t\t'(- *)'{-V,--version}'[Show the version]'";

static const char zsh_tail[] = "\tesac\n"
			       "}\n"
			       "if [[ $funcstack[1] == _codex ]]; then\n"
			       "\t_codex \"$@\"\n"
			       "else\n"
			       "\tcompdef _codex codex\n"
			       "fi\n";

/* Appends text for single quotes, and escapes the characters of `special`, which _arguments would interpret. */
static void zsh_append_text(struct buf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'') {
			buf_append_c(out, "'\\''");
			continue;
		}
		if (strchr(special, *text))
			buf_append_char(out, '\\');
		buf_append_char(out, *text);
	}
}

/* Appends 'word:description' for each word, for the form ((…)) of _arguments. */
static void zsh_append_words(struct buf *out, const struct cli_command *command)
{
	for (size_t i = 0; i < command->word_count; i++) {
		const struct cli_word *word = &command->words[i];
		if (!word->doc)
			continue;
		buf_printf(out, " %s\\:\"", word->word);
		zsh_append_text(out, word->doc, "\\:()\"$`");
		buf_append_char(out, '"');
	}
}

static void zsh_append_value(struct buf *out, const struct cli_option *option)
{
	if (option->kind == CLI_FLAG)
		return;
	buf_append_char(out, ':');
	zsh_append_text(out, option->value, "\\:");
	buf_append_char(out, ':');
	enum candidates value = completion_candidates(option);
	if (value == CANDIDATES_choices) {
		buf_append_char(out, '(');
		append_choices(out, option->choices);
		buf_append_char(out, ')');
	} else if (value == CANDIDATES_files) {
		buf_append_c(out, "_files");
	} else {
		buf_append_c(out, value == CANDIDATES_folders ? "_files -/" : " ");
	}
}

static void zsh_append_option(struct buf *out, const struct cli_option *option)
{
	bool is_flag = option->kind == CLI_FLAG;
	const char *joined = is_flag ? "" : "+", *equals = is_flag ? "" : "=";
	buf_append_c(out, " \\\n\t\t");
	if (option->kind == CLI_LIST || option->kind == CLI_FILES)
		buf_append_c(out, "'*'");
	else if (option->letter)
		buf_printf(out, "'(-%c --%s)'", option->letter, option->name);
	if (option->letter)
		buf_printf(out, "{-%c%s,--%s%s}", option->letter, joined, option->name, equals);
	else
		buf_printf(out, "--%s%s", option->name, equals);
	buf_append_c(out, "'[");
	zsh_append_text(out, option->doc, "\\:[]");
	buf_append_char(out, ']');
	zsh_append_value(out, option);
	buf_append_char(out, '\'');
}

static void zsh_append_command(struct buf *out, const struct cli_word *word)
{
	const struct cli_command *command = word->command;
	buf_printf(out, "\t%s%s%s)\n\t\t_arguments -s -S", word->word, word->other ? " | " : "",
	           word->other ? word->other : "");
	if (command->word_count) {
		buf_append_c(out, " '1:: :((");
		zsh_append_words(out, command);
		buf_append_c(out, "))'");
	}
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].doc)
			zsh_append_option(out, &command->options[i]);
	}
	buf_append_c(out, builtin);
	buf_append_c(out, " ;;\n");
}

static void write_zsh(const struct cli_command *program, struct buf *out)
{
	buf_append_c(out, zsh_head);
	zsh_append_words(out, program);
	buf_append_c(out, "))' '*:: :->argument'");
	for (size_t i = 0; i < program->option_count; i++) {
		if (program->options[i].doc)
			zsh_append_option(out, &program->options[i]);
	}
	buf_append_c(out, builtin);
	buf_append_c(out, "\n\t[[ $state == argument ]] || return\n\tcase $words[1] in\n");
	for (size_t i = 0; i < program->word_count; i++)
		zsh_append_command(out, &program->words[i]);
	buf_append_c(out, zsh_tail);
}

/* ---- the command ---- */

typedef void (*write_fn)(const struct cli_command *program, struct buf *out);

static const struct cli_word shells[] = {
	{.word = "bash", .doc = "In ~/.bashrc: source <(codex completion bash)"},
	{.word = "zsh", .doc = "In ~/.zshrc, after compinit: source <(codex completion zsh)"},
	{.word = "fish", .doc = "In ~/.config/fish/config.fish: codex completion fish | source"},
	{.word = "elvish", .doc = "In ~/.config/elvish/rc.elv: eval (codex completion elvish | slurp)"},
	{.word = "powershell", .doc = "In $PROFILE: codex completion powershell | Out-String | Invoke-Expression"},
};

static const write_fn writers[] = {write_bash, write_zsh, write_fish, completion_write_elvish,
                                   completion_write_powershell};
_Static_assert(countof(writers) == countof(shells), "a writer for each shell");

const struct cli_command completion_command = {
	.name = "codex completion",
	.about = "Print a script that completes codex command lines; bash is the default.",
	.usage = "Usage: codex completion [SHELL]",
	.words = shells,
	.word_count = countof(shells),
};

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
