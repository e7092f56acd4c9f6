/* One _arguments call for the program and one for each command: zsh's own tool knows about clusters of
 * letters, "=" and options that were given already. */
#include "ui/cli/completion_priv.h"

static const char head[] = "#compdef codex\n"
			   "# Completes codex command lines in zsh: source <(codex completion zsh)\n"
			   "_codex() {\n"
			   "\tlocal state line\n"
			   "\ttypeset -A opt_args\n"
			   "\t_arguments -C '1:command:((";

static const char builtin[] = " \\\n\t\t'(- *)'{-h,--help}'[Show this text]'"
			      " \\\n\t\t'(- *)'{-V,--version}'[Show the version]'";

static const char tail[] = "\tesac\n"
			   "}\n"
			   "if [[ $funcstack[1] == _codex ]]; then\n"
			   "\t_codex \"$@\"\n"
			   "else\n"
			   "\tcompdef _codex codex\n"
			   "fi\n";

/* Inside single quotes; `special` are the characters that _arguments would take for its own. */
static void append_text(struct buf *out, const char *text, const char *special)
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

/* 'word:what it does' for each, as ((…)) takes them */
static void append_words(struct buf *out, const struct cli_command *command)
{
	for (size_t i = 0; i < command->word_count; i++) {
		const struct cli_word *word = &command->words[i];
		if (!word->doc)
			continue;
		buf_printf(out, " %s\\:\"", word->word);
		append_text(out, word->doc, "\\:()\"$`");
		buf_append_char(out, '"');
	}
}

static void append_value(struct buf *out, const struct cli_option *option)
{
	if (option->kind == CLI_FLAG)
		return;
	buf_append_char(out, ':');
	append_text(out, option->value, "\\:");
	buf_append_char(out, ':');
	enum completion_value value = completion_value(option);
	if (value == COMPLETION_choices) {
		buf_append_char(out, '(');
		completion_append_choices(out, option->choices);
		buf_append_char(out, ')');
	} else if (value == COMPLETION_files) {
		buf_append_c(out, "_files");
	} else {
		buf_append_c(out, value == COMPLETION_folders ? "_files -/" : " ");
	}
}

static void append_option(struct buf *out, const struct cli_option *option)
{
	bool is_flag = option->kind == CLI_FLAG;
	const char *joined = is_flag ? "" : "+", *equals = is_flag ? "" : "=";
	buf_append_c(out, " \\\n\t\t");
	if (option->kind == CLI_LIST)
		buf_append_c(out, "'*'");
	else if (option->letter)
		buf_printf(out, "'(-%c --%s)'", option->letter, option->name);
	if (option->letter)
		buf_printf(out, "{-%c%s,--%s%s}", option->letter, joined, option->name, equals);
	else
		buf_printf(out, "--%s%s", option->name, equals);
	buf_append_c(out, "'[");
	append_text(out, option->doc, "\\:[]");
	buf_append_char(out, ']');
	append_value(out, option);
	buf_append_char(out, '\'');
}

static void append_command(struct buf *out, const struct cli_word *word)
{
	const struct cli_command *command = word->command;
	buf_printf(out, "\t%s%s%s)\n\t\t_arguments -s -S", word->word, word->other ? " | " : "",
	           word->other ? word->other : "");
	if (command->word_count) {
		buf_append_c(out, " '1:: :((");
		append_words(out, command);
		buf_append_c(out, "))'");
	}
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].doc)
			append_option(out, &command->options[i]);
	}
	buf_append_c(out, builtin);
	buf_append_c(out, " ;;\n");
}

void completion_zsh(const struct cli_command *program, struct buf *out)
{
	buf_append_c(out, head);
	append_words(out, program);
	buf_append_c(out, "))' '*:: :->argument'");
	buf_append_c(out, builtin);
	buf_append_c(out, "\n\t[[ $state == argument ]] || return\n\tcase $words[1] in\n");
	for (size_t i = 0; i < program->word_count; i++)
		append_command(out, &program->words[i]);
	buf_append_c(out, tail);
}
