/* The grammar lists what is allowed instead of what is forbidden: each byte outside quotes must either mean itself
 * in all three shells or be one of the joining operators. So constructs that are new, rare or specific to one shell
 * need not be listed to be rejected. The lists below contain the few words and bytes that look plain but are
 * special. */
#include "command/command_parse.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "command/shell.h"

enum word_state {
	WORD_NONE, /* no word: a blank, or the end of the command */
	WORD_READ,
	WORD_UNKNOWN,
};

struct reader {
	struct str rest;
	char *out;                      /* where the text of the next word goes */
	VEC(struct command_word) words; /* words of all commands */
	VEC(size_t) starts;             /* for each command, the index of its first word */
	bool wants_command;             /* an operator was read that needs a command after it */
};

/* True for bytes that stand for themselves anywhere in a word; bytes beyond ASCII do so only in quotes. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("_-./,:@%+", c));
}

/* True for bytes that are plain only in some positions. A name has no characters that one of the shells treats
 * specially. "=" makes an assignment, and zsh expands =word to a path; # starts a comment; ~ is a home folder at the
 * start of a word and of a value in a list or an assignment. */
static bool is_plain_at(char c, char before, bool is_name)
{
	bool is_first = before == '\0';
	if (c == '=')
		return !is_first && !is_name;
	if (c == '~')
		return before != ':' && before != '=' && !is_name;
	if (c == '#' || c == '^')
		return !is_first && !is_name;
	if (is_name && (strchr(",:@%", c) || (is_first && strchr("-+", c))))
		return false;
	return is_plain(c);
}

/* Returns the length of the pattern at the start of text, or 0. Patterns are "*", "?", and brackets around plain
 * bytes. */
static size_t pattern_length(struct str text)
{
	if (text.ptr[0] == '*' || text.ptr[0] == '?')
		return 1;
	if (text.ptr[0] != '[') /* before the scan, which would make a long word quadratic */
		return 0;
	size_t length = 1;
	while (length < text.len && (is_plain(text.ptr[length]) || (length == 1 && text.ptr[length] == '^')))
		length++;
	return length > 1 && length < text.len && text.ptr[length] == ']' ? length + 1 : 0;
}

static bool ends_word(char c)
{
	return c != '\0' && strchr(" \t\n;&|", c);
}

/* Reads up to the closing quote. Only double quotes can expand their content. */
static bool read_quoted(struct reader *reader)
{
	char quote = reader->rest.ptr[0];
	struct str inner = str_skip(reader->rest, 1);
	ptrdiff_t end = str_find_char(inner, quote);
	if (end < 0)
		return false;
	for (ptrdiff_t i = 0; i < end; i++) {
		if (quote == '"' && strchr("$`\\", inner.ptr[i]))
			return false;
		*reader->out++ = inner.ptr[i];
	}
	reader->rest = str_skip(inner, (size_t)end + 1);
	return true;
}

static bool read_bare(struct reader *reader, struct command_word *word, bool is_name)
{
	char c = reader->rest.ptr[0];
	bool is_first = reader->out == word->text;
	size_t length = is_name ? 0 : pattern_length(reader->rest);
	if (length > 0)
		word->can_vary = true;
	else if (!is_plain_at(c, is_first ? '\0' : reader->out[-1], is_name))
		return false;
	length += length == 0;
	memcpy(reader->out, reader->rest.ptr, length);
	reader->out += length;
	reader->rest = str_skip(reader->rest, length);
	return true;
}

static enum word_state read_word(struct reader *reader, bool is_name)
{
	struct command_word word = {.text = reader->out};
	if (reader->rest.len == 0 || ends_word(reader->rest.ptr[0]))
		return WORD_NONE;
	while (reader->rest.len > 0 && !ends_word(reader->rest.ptr[0])) {
		char c = reader->rest.ptr[0];
		bool is_known = c == '\'' || c == '"' ? read_quoted(reader) : read_bare(reader, &word, is_name);
		if (!is_known)
			return WORD_UNKNOWN;
	}
	*reader->out++ = '\0';
	vec_push(&reader->words, word);
	return WORD_READ;
}

/* True for words that begin a control structure or that the grammar treats differently from a command's name. */
static bool is_special_name(const char *name)
{
	static const char *const names[] = {
		"!",    "[",    "[[",   "]]",      "case",      "coproc",   "declare",  "do",      "done",
		"elif", "else", "end",  "esac",    "export",    "fi",       "for",      "foreach", "function",
		"if",   "in",   "let",  "local",   "nocorrect", "noglob",   "readonly", "repeat",  "select",
		"test", "then", "time", "typeset", "unset",     "unsetenv", "until",    "while",
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void skip_blanks_and_comment(struct reader *reader)
{
	struct str *rest = &reader->rest;
	while (rest->len > 0 && (rest->ptr[0] == ' ' || rest->ptr[0] == '\t'))
		*rest = str_skip(*rest, 1);
	if (rest->len > 0 && rest->ptr[0] == '#')
		while (rest->len > 0 && rest->ptr[0] != '\n')
			*rest = str_skip(*rest, 1);
}

/* Reads words up to an operator, the end of the line or the end of the script. */
static bool read_command(struct reader *reader, bool *ret_is_empty)
{
	size_t start = reader->words.count;
	enum word_state state;
	do {
		skip_blanks_and_comment(reader);
		state = read_word(reader, reader->words.count == start);
	} while (state == WORD_READ);
	*ret_is_empty = reader->words.count == start;
	if (state == WORD_UNKNOWN || (!*ret_is_empty && is_special_name(reader->words.items[start].text)))
		return false;
	if (!*ret_is_empty)
		vec_push(&reader->starts, start);
	return true;
}

/* Consumes the operator after a command. Line ends may follow anything, other operators only a command. */
static bool read_operator(struct reader *reader, bool is_empty)
{
	struct str *rest = &reader->rest;
	reader->wants_command = reader->wants_command && is_empty;
	if (rest->len == 0 || str_cut_prefix(rest, "\n"))
		return true;
	if (is_empty)
		return false;
	reader->wants_command = rest->ptr[0] != ';';
	if (str_cut_prefix(rest, "&&") || str_cut_prefix(rest, "||"))
		return true;
	return !str_has_prefix(*rest, "&") && (str_cut_prefix(rest, "|") || str_cut_prefix(rest, ";"));
}

static bool read_script(struct reader *reader)
{
	do {
		bool is_empty;
		if (!read_command(reader, &is_empty) || !read_operator(reader, is_empty))
			return false;
	} while (reader->rest.len > 0);
	return !reader->wants_command && reader->starts.count > 0;
}

static void hand_over(const struct reader *reader, struct arena *arena, struct command_list *ret)
{
	struct command_word *words = arena_array(arena, struct command_word, reader->words.count);
	memcpy(words, reader->words.items, reader->words.count * sizeof(*words));
	ret->count = reader->starts.count;
	ret->commands = arena_array(arena, struct plain_command, ret->count);
	for (size_t i = 0; i < ret->count; i++) {
		size_t start = reader->starts.items[i];
		size_t end = i + 1 < ret->count ? reader->starts.items[i + 1] : reader->words.count;
		ret->commands[i] = (struct plain_command){words + start, end - start};
	}
}

static bool parse_script(struct str script, struct arena *arena, struct command_list *ret)
{
	if (script.len > LIMIT_COMMAND_PARSE)
		return false;
	/* A word is not longer than its source, and its NUL takes the place of a separator or of the script's end. */
	struct reader reader = {.rest = script, .out = arena_alloc_raw(arena, script.len + 1)};
	bool is_known = read_script(&reader);
	if (is_known)
		hand_over(&reader, arena, ret);
	vec_finish(&reader.words);
	vec_finish(&reader.starts);
	return is_known;
}

static bool is_script_flag(const char *word)
{
	return strcmp(word, "-c") == 0 || strcmp(word, "-lc") == 0;
}

bool command_parse_argv(const char *const *argv, struct arena *arena, struct command_list *ret)
{
	size_t count = 0;
	while (argv[count])
		count++;
	if (count == 0)
		return false;
	if (shell_is_known(argv[0]))
		return count == 3 && shell_is_trusted(argv[0]) && is_script_flag(argv[1]) &&
		       parse_script(str_of(argv[2]), arena, ret);
	struct command_word *words = arena_array(arena, struct command_word, count);
	for (size_t i = 0; i < count; i++)
		words[i].text = arena_cstr(arena, str_of(argv[i]));
	ret->commands = arena_new(arena, struct plain_command);
	*ret->commands = (struct plain_command){words, count};
	ret->count = 1;
	return true;
}
