/* The scripts for elvish and PowerShell, which quote texts alike: in single quotes, where a quote is doubled. Both
 * list, for each command, its words and options with their descriptions; the shell picks those that match. Keys are
 * "codex exec --sandbox": the command, then the option whose value is completed. */
#include "ui/cli/completion_priv.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"

static const struct cli_option builtin[] = {
	{.name = "help", .doc = "Show this text"},
	{.name = "version", .doc = "Show the version"},
};

static void append_quoted(struct buf *out, const char *text)
{
	buf_append_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_append_char(out, '\'');
		buf_append_char(out, *text);
	}
	buf_append_char(out, '\'');
}

/* Appends COMMAND 'a' 'b' for "a|b". */
static void append_choices(struct buf *out, const char *choices, const char *command)
{
	struct str rest = str_of(choices), word;
	buf_append_c(out, command);
	while (str_next_part(&rest, '|', &word))
		buf_printf(out, " '%.*s'", STR_ARG(word));
	buf_append_c(out, "; ");
}

/* How a shell writes the parts that differ. */
struct dialect {
	const char *option_row;  /* "codex exec", dashes and name of an option with a value */
	const char *row_end;     /* the end of such a row */
	const char *choices;     /* the command that offers its arguments */
	const char *files;       /* a row's content if the value is a path */
	const char *command_row; /* "codex exec" */
	const char *command_end;
	const char *candidate; /* before a candidate and its description */
};

static void append_value_row(struct buf *out, const struct dialect *dialect, const char *command,
                             const char *option_name, const struct cli_option *option)
{
	enum candidates kind = completion_candidates(option);
	buf_printf(out, dialect->option_row, command, option_name);
	if (kind == CANDIDATES_choices)
		append_choices(out, option->choices, dialect->choices);
	else if (kind == CANDIDATES_files || kind == CANDIDATES_folders)
		buf_append_c(out, dialect->files);
	buf_append_c(out, dialect->row_end);
}

/* Appends a row for each option that has a value, in its long and its short form. */
static void append_value_rows(struct buf *out, const struct dialect *dialect, const struct cli_command *command,
                              const char *name)
{
	for (size_t i = 0; i < command->option_count; i++) {
		const struct cli_option *option = &command->options[i];
		char text[64];
		if (!option->doc || option->kind == CLI_FLAG)
			continue;
		snprintf(text, sizeof(text), "--%s", option->name);
		append_value_row(out, dialect, name, text, option);
		snprintf(text, sizeof(text), "-%c", option->letter);
		if (option->letter)
			append_value_row(out, dialect, name, text, option);
	}
}

static void append_candidate(struct buf *out, const struct dialect *dialect, const char *dashes, const char *text,
                             const char *doc)
{
	buf_printf(out, "%s'%s%s' ", dialect->candidate, dashes, text);
	append_quoted(out, doc);
}

static void append_command(struct buf *out, const struct dialect *dialect, const struct cli_command *command,
                           const char *name)
{
	buf_printf(out, dialect->command_row, name);
	for (size_t i = 0; i < command->word_count; i++) {
		if (command->words[i].doc)
			append_candidate(out, dialect, "", command->words[i].word, command->words[i].doc);
	}
	for (size_t i = 0; i < command->option_count; i++) {
		if (command->options[i].doc)
			append_candidate(out, dialect, "--", command->options[i].name, command->options[i].doc);
	}
	for (size_t i = 0; i < countof(builtin); i++)
		append_candidate(out, dialect, "--", builtin[i].name, builtin[i].doc);
	buf_append_c(out, dialect->command_end);
}

/* Appends a row for each word that is a command, in each of its spellings. */
static void append_words(struct buf *out, const struct cli_command *program, const char *format)
{
	for (size_t i = 0; i < program->word_count; i++) {
		const struct cli_word *word = &program->words[i];
		buf_printf(out, format, word->word, word->word);
		if (word->other)
			buf_printf(out, format, word->other, word->word);
	}
}

static void append_all(struct buf *out, const struct dialect *dialect, const struct cli_command *program,
                       const char *middle)
{
	for (size_t i = 0; i < program->word_count; i++)
		append_value_rows(out, dialect, program->words[i].command, program->words[i].command->name);
	buf_append_c(out, middle);
	append_command(out, dialect, program, program->name);
	for (size_t i = 0; i < program->word_count; i++)
		append_command(out, dialect, program->words[i].command, program->words[i].command->name);
}

/* ---- elvish ---- */

void completion_write_elvish(const struct cli_command *program, struct buf *out)
{
	static const struct dialect elvish = {
		.option_row = "\t\t&'%s %s'={ ",
		.row_end = "}\n",
		.choices = "put",
		.files = "edit:complete-filename $words[-1] ",
		.command_row = "\t\t&'%s'={",
		.command_end = "\n\t\t}\n",
		.candidate = "\n\t\t\toffer ",
	};
	buf_append_c(out, "# Completes codex command lines in elvish: eval (codex completion elvish | slurp)\n"
	                  "set edit:completion:arg-completer[codex] = {|@words|\n"
	                  "\tfn offer {|text doc| edit:complex-candidate $text &display=$text'  '$doc }\n"
	                  "\tvar commands = [\n");
	append_words(out, program, "\t\t&'%s'='codex %s'\n");
	buf_append_c(out, "\t]\n\tvar command = codex\n"
	                  "\tfor word $words[1..-1] {\n"
	                  "\t\tif (has-key $commands $word) { set command = $commands[$word]; break }\n"
	                  "\t}\n"
	                  "\tvar values = [\n");
	append_all(out, &elvish, program, "\t]\n\tvar candidates = [\n");
	buf_append_c(out, "\t]\n\tvar option = $command' '$words[-2]\n"
	                  "\tif (has-key $values $option) { $values[$option] } else { $candidates[$command] }\n"
	                  "}\n");
}

/* ---- PowerShell ---- */

/* Tables of PowerShell ignore the case of keys, so -c and -C need a switch. If nothing is returned, it completes file
 * names by itself. */
void completion_write_powershell(const struct cli_command *program, struct buf *out)
{
	static const struct dialect powershell = {
		.option_row = "\t\t'%s %s' { ",
		.row_end = "return }\n",
		.choices = "& $choices",
		.files = "",
		.command_row = "\t\t'%s' {",
		.command_end = "\n\t\t}\n",
		.candidate = "\n\t\t\t& $offer ",
	};
	buf_append_c(
		out,
		"# Completes codex command lines in PowerShell:\n"
		"# codex completion powershell | Out-String | Invoke-Expression\n"
		"Register-ArgumentCompleter -Native -CommandName 'codex' -ScriptBlock {\n"
		"\tparam($wordToComplete, $commandAst, $cursorPosition)\n"
		"\t$before = @($commandAst.CommandElements | Select-Object -Skip 1 |\n"
		"\t\tWhere-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { \"$_\" })\n"
		"\t$offer = {\n"
		"\t\tparam($text, $doc)\n"
		"\t\tif ($text.StartsWith($wordToComplete)) {\n"
		"\t\t\t[System.Management.Automation.CompletionResult]::new($text, $text, 'ParameterValue', $doc)\n"
		"\t\t}\n"
		"\t}\n"
		"\t$choices = { foreach ($text in $args) { & $offer $text $text } }\n"
		"\t$command = 'codex'\n"
		"\t:words foreach ($word in $before) {\n"
		"\t\tswitch -CaseSensitive ($word) {\n");
	append_words(out, program, "\t\t\t'%s' { $command = 'codex %s'; break words }\n");
	buf_append_c(out, "\t\t}\n\t}\n\t$previous = if ($before.Count) { $before[-1] } else { '' }\n"
	                  "\tswitch -CaseSensitive (\"$command $previous\") {\n");
	append_all(out, &powershell, program, "\t}\n\tswitch -CaseSensitive ($command) {\n");
	buf_append_c(out, "\t}\n}\n");
}
