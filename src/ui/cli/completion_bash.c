/* Two case statements: what follows an option, else what may stand here. bash splits --name=value at the
 * "=", so the option's name is looked for one word further back. */
#include "ui/cli/completion_priv.h"

static const char head[] =
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

static const char tail[] = "\tesac\n"
			   "\t[[ $cur == -* ]] && words=$options\n"
			   "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
			   "}\n"
			   "complete -F _codex codex\n";

static void append_after_option(struct buf *out, const char *command, const struct cli_option *option)
{
	static const char files[] = "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -%c -- \"$cur\"); return";
	buf_printf(out, "\t'%s --%s'", command, option->name);
	if (option->letter)
		buf_printf(out, " | '%s -%c'", command, option->letter);
	buf_append_c(out, ") ");
	enum completion_value value = completion_value(option);
	if (value == COMPLETION_choices) {
		buf_append_c(out, "words='");
		completion_append_choices(out, option->choices);
		buf_append_char(out, '\'');
	} else if (value == COMPLETION_files || value == COMPLETION_folders) {
		buf_printf(out, files, value == COMPLETION_files ? 'f' : 'd');
	} else {
		buf_append_c(out, "return");
	}
	buf_append_c(out, " ;;\n");
}

static void append_here(struct buf *out, const char *name, const struct cli_command *command)
{
	buf_printf(out, "\t'%s '*)\n\t\twords='", name);
	completion_append_words(out, command);
	buf_append_c(out, "'\n\t\toptions='--help --version");
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].doc)
			buf_printf(out, " --%s", command->options[i].name);
	}
	buf_append_c(out, "' ;;\n");
}

static void append_word(struct buf *out, const struct cli_word *word)
{
	buf_printf(out, "\t\t%s", word->word);
	if (word->other)
		buf_printf(out, " | %s", word->other);
	buf_printf(out, ") command=%s ;;\n", word->word);
}

void completion_bash(const struct cli_command *program, struct buf *out)
{
	buf_append_c(out, head);
	for (size_t i = 0; i < program->word_count; i++)
		append_word(out, &program->words[i]);
	buf_append_c(out, middle);
	for (size_t i = 0; i < program->word_count; i++) {
		const struct cli_command *command = program->words[i].command;
		for (size_t k = 0; k < command->option_count; k++) {
			if (command->options[k].doc && command->options[k].kind != CLI_FLAG)
				append_after_option(out, program->words[i].word, &command->options[k]);
		}
	}
	append_here(out, "", program);
	for (size_t i = 0; i < program->word_count; i++)
		append_here(out, program->words[i].word, program->words[i].command);
	buf_append_c(out, tail);
}
