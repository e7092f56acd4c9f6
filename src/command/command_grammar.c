/* A word of a shell script is read here as far as its own bytes decide; command_scan.c knows what stands before it. */
#include "command/command_grammar.h"

#include <string.h>

#include "command/command_limits.h"
#include "command/shell.h"

/* ---- bytes of a word ---- */

bool command_ends_word(char c)
{
	return c == '\0' || strchr(" \t\n;&|()<>", c);
}

size_t command_brace_length(struct str text)
{
	size_t depth = 0;
	bool is_list = false;
	for (size_t at = 0; at < text.len && !command_ends_word(text.ptr[at]); at++) {
		char c = text.ptr[at];
		if (at == LIMIT_COMMAND_BRACE)
			return at;
		depth += c == '{';
		depth -= c == '}';
		is_list = is_list || c == ',' || (c == '.' && at > 0 && text.ptr[at - 1] == '.');
		if (depth == 0)
			return is_list ? at + 1 : 0;
	}
	return 0;
}

/* ---- words ---- */

static bool is_assignment(const char *word)
{
	size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	return len > 0 && (word[len] == '=' || strncmp(word + len, "+=", 2) == 0);
}

size_t command_grammar_width(const char *word)
{
	static const char *const grammar[] = {"!",         "coproc", "do",   "elif",  "else",  "if",
	                                      "nocorrect", "noglob", "then", "until", "while", "{"};
	for (size_t i = 0; i < sizeof(grammar) / sizeof(*grammar); i++)
		if (strcmp(word, grammar[i]) == 0)
			return 1;
	return strcmp(word, "function") == 0 ? 2 : is_assignment(word) ? 1 : 0;
}

bool command_is_descriptor(struct str word, char after)
{
	for (size_t i = 0; i < word.len; i++)
		if (word.ptr[i] < '0' || word.ptr[i] > '9')
			return false;
	return after == '<' || after == '>';
}

bool command_reads_script(const char *word, const char *next)
{
	bool is_source = strcmp(word, ".") == 0 || strcmp(word, "source") == 0;
	bool is_input = str_has_prefix(str_of(next), "/dev/") || str_has_prefix(str_of(next), "/proc/");
	return shell_is_known(word) || (is_source && is_input);
}

/* ---- here-documents ---- */

struct str command_here_mark(struct str mark, struct arena *arena)
{
	char quote = '\0';
	size_t len = 0;
	char *text = arena_array(arena, char, mark.len + 1);
	for (size_t i = 0; i < mark.len; i++) {
		char c = mark.ptr[i];
		if (c == quote || (!quote && (c == '\'' || c == '"')))
			quote = quote ? '\0' : c;
		else if (c == '\\' && quote != '\'' && i + 1 < mark.len)
			text[len++] = mark.ptr[++i];
		else
			text[len++] = c;
	}
	return str_n(text, len);
}
