/* One pass with a state for the meaning of the next word. The content of a word matters in three places only: the
 * command's name, the options of rm, and the script of a nested shell. So words are collected without their quotes,
 * and everything else is skipped. */
#include "command/command_scan.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "command/command_parse.h"
#include "command/shell.h"

enum {
	DEPTH_MAX = 8,     /* for nested shells and for substitutions in quotes */
	STEPS_FACTOR = 16, /* steps per byte of the script, because nested scripts are scanned again */
};

enum expected {
	NAME,           /* the name of a command */
	NAME_SOMEWHERE, /* the name after sudo, whose options and values come first */
	RM_OPTION,
	SHELL_OPTION,
	SHELL_VALUE, /* the value of -o or -O */
	SHELL_SCRIPT,
	NOTHING,
};

struct scan {
	struct str rest;
	enum expected expected;
	bool is_target;  /* the next word is the target of a redirection */
	struct str here; /* the end mark of the here-document; STR_NONE outside of one */
	int depth;
	size_t *steps; /* steps left for all depths together */
	char closer;   /* ends a nested script: ) or ` */
	size_t opened; /* number of open parentheses */
	bool is_over;
	bool is_found;
	struct buf word;
};

static bool scan_script(struct str script, char closer, int depth, size_t *steps);

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

static bool is_assignment(const char *word)
{
	size_t len = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	return len > 0 && word[len] == '=';
}

static enum expected after_name(const char *word)
{
	static const char *const goes_on[] = {"!",     "builtin", "command", "do",    "elif",  "else", "exec", "if",
	                                      "nohup", "then",    "time",    "until", "while", "{",    NULL};
	static const char *const takes_options[] = {"doas", "env", "sudo", NULL};
	const char *name = shell_base_name(word);
	if (is_assignment(word) || is_one_of(word, goes_on))
		return NAME;
	if (is_one_of(name, takes_options))
		return NAME_SOMEWHERE;
	if (strcmp(name, "rm") == 0)
		return RM_OPTION;
	return shell_is_known(name) ? SHELL_OPTION : NOTHING;
}

static bool is_short_option(const char *word, char letter)
{
	return word[0] == '-' && word[1] != '-' && strchr(word, letter);
}

/* True if the word forces rm. Quotes were removed, so a quoted pattern counts as a pattern. */
static bool forces_rm(const char *text)
{
	return command_word_forces_rm(&(struct command_word){text, strpbrk(text, "*?[") != NULL});
}

static void take_word(struct scan *scan, const char *word)
{
	if (scan->is_target) {
		scan->is_target = false;
		return;
	}
	switch (scan->expected) {
	case NAME:
		scan->expected = after_name(word);
		break;
	case NAME_SOMEWHERE:
		if (after_name(word) != NOTHING)
			scan->expected = after_name(word);
		break;
	case RM_OPTION:
		scan->is_found = scan->is_found || forces_rm(word);
		if (strcmp(word, "--") == 0)
			scan->expected = NOTHING;
		break;
	case SHELL_OPTION:
		if (word[0] != '-')
			scan->expected = NOTHING;
		else if (is_short_option(word, 'c') || strpbrk(word, "*?["))
			scan->expected = SHELL_SCRIPT;
		else if (is_short_option(word, 'o') || is_short_option(word, 'O'))
			scan->expected = SHELL_VALUE;
		break;
	case SHELL_VALUE:
		scan->expected = SHELL_OPTION;
		break;
	case SHELL_SCRIPT:
		scan->is_found = scan->is_found || scan_script(buf_str(&scan->word), 0, scan->depth + 1, scan->steps);
		scan->expected = NOTHING;
		break;
	case NOTHING:
		break;
	}
}

/* Reads up to the closing quote; a substitution in double quotes is scanned as a script. */
static void take_quoted(struct scan *scan, char quote)
{
	struct str *rest = &scan->rest;
	while (rest->len > 0 && rest->ptr[0] != quote) {
		bool is_escape = quote == '"' && rest->ptr[0] == '\\' && rest->len > 1;
		bool is_script = quote == '"' && (rest->ptr[0] == '`' || str_has_prefix(*rest, "$("));
		if (is_script && !scan->is_found)
			scan->is_found = scan_script(str_skip(*rest, rest->ptr[0] == '`' ? 1 : 2),
			                             rest->ptr[0] == '`' ? '`' : ')', scan->depth + 1, scan->steps);
		*rest = str_skip(*rest, is_escape ? 1 : 0);
		buf_append_char(&scan->word, rest->ptr[0]);
		*rest = str_skip(*rest, 1);
	}
	*rest = str_skip(*rest, rest->len > 0 ? 1 : 0);
}

static bool ends_word(char c)
{
	return c == '\0' || strchr(" \t\n;&|()`<>", c);
}

static void read_word(struct scan *scan)
{
	buf_clear(&scan->word);
	struct str *rest = &scan->rest;
	while (rest->len > 0 && !ends_word(rest->ptr[0])) {
		char c = rest->ptr[0];
		*rest = str_skip(*rest, 1);
		if (c == '\'' || c == '"') {
			take_quoted(scan, c);
			continue;
		}
		if (c == '\\' && rest->len > 0) {
			c = rest->ptr[0];
			*rest = str_skip(*rest, 1);
		}
		buf_append_char(&scan->word, c);
	}
}

static bool is_line(struct str line, struct str wanted)
{
	while (line.len > 0 && line.ptr[0] == '\t')
		line = str_skip(line, 1);
	return str_eq(line, wanted);
}

/* Skips the lines of a here-document. */
static void skip_here(struct scan *scan)
{
	struct str line;
	while (str_next_line(&scan->rest, &line) && !is_line(line, scan->here))
		;
	scan->here = STR_NONE;
}

/* Reads "<<" and the following word without its quotes. "<<<" starts no document. */
static void begin_here(struct scan *scan)
{
	struct str *rest = &scan->rest;
	while (rest->len > 0 && strchr("- \t", rest->ptr[0]))
		*rest = str_skip(*rest, 1);
	const char *from = rest->ptr;
	read_word(scan);
	struct str word = str_n(from, (size_t)(rest->ptr - from));
	while (word.len > 1 && strchr("'\"\\", word.ptr[0]))
		word = str_skip(word, 1);
	while (word.len > 0 && strchr("'\"", word.ptr[word.len - 1]))
		word.len--;
	scan->here = word.len > 0 ? word : STR_NONE;
}

static void take_mark(struct scan *scan)
{
	char c = scan->rest.ptr[0];
	scan->is_over = scan->closer && c == scan->closer && scan->opened == 0;
	scan->opened += c == '(';
	scan->opened -= c == ')' && scan->opened > 0;
	bool is_here = str_has_prefix(scan->rest, "<<") && !str_has_prefix(scan->rest, "<<<");
	scan->rest = str_skip(scan->rest, is_here ? 2 : 1);
	if (is_here) {
		begin_here(scan);
	} else if (c == '<' || c == '>') {
		scan->is_target = true;
	} else if (c != ' ' && c != '\t' && !(c == '&' && scan->is_target)) {
		scan->expected = NAME;
		scan->is_target = false;
	}
	if (c == '\n' && scan->here.ptr)
		skip_here(scan);
}

static void take_next(struct scan *scan)
{
	if (ends_word(scan->rest.ptr[0])) {
		take_mark(scan);
	} else if (scan->rest.ptr[0] == '#') {
		ptrdiff_t end = str_find_char(scan->rest, '\n');
		scan->rest = str_skip(scan->rest, end < 0 ? scan->rest.len : (size_t)end);
	} else {
		read_word(scan);
		take_word(scan, scan->word.len > 0 ? scan->word.data : "");
	}
}

static bool scan_script(struct str script, char closer, int depth, size_t *steps)
{
	struct scan scan = {.rest = script, .closer = closer, .depth = depth, .steps = steps};
	buf_init(&scan.word, LIMIT_COMMAND_PARSE);
	while (depth<DEPTH_MAX && * steps> 0 && scan.rest.len > 0 && !scan.is_over && !scan.is_found) {
		size_t before = scan.rest.len;
		take_next(&scan);
		size_t used = before - scan.rest.len;
		*steps -= used < *steps ? used : *steps;
	}
	buf_finish(&scan.word);
	return scan.is_found;
}

/* Returns the length of the bracket expression at the start of text, or 0. A ] in first place is literal. */
static size_t bracket_length(const char *text)
{
	size_t first = text[0] == '[' ? 1 + strspn(text + 1, "^!") : 0;
	const char *end = first > 0 && text[first] ? strchr(text + first + 1, ']') : NULL;
	return end ? (size_t)(end - text) + 1 : 0;
}

/* True if the expression can match a dash: false for letters, digits and ranges of them. Other ranges and negations
 * depend on the locale. */
static bool bracket_can_be_dash(const char *text, size_t length)
{
	static const char names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	bool is_range_over = true;
	for (size_t at = 1; at + 1 < length; at++) {
		bool is_inner = at > 1 && at + 2 < length;
		bool is_range = text[at] == '-' && is_inner && is_range_over && strchr(names, text[at - 1]) &&
		                strchr(names, text[at + 1]);
		if (!is_range && strchr("-^!", text[at]))
			return true;
		is_range_over = !is_range;
		at += is_range;
	}
	return false;
}

/* Returns the length of a pattern's first element if it can match "-", else 0. `rm *` and `rm ?*` are too common to
 * ask about, although a file named -f would turn them into rm -f. */
static size_t dash_length(const char *text)
{
	size_t length = bracket_length(text);
	if (length > 0)
		return bracket_can_be_dash(text, length) ? length : 0;
	bool is_any = text[0] == '?' && text[strspn(text, "?")] != '*';
	return text[0] == '-' || is_any ? 1 : 0;
}

/* True if a pattern can expand to short options of rm that include f. */
static bool pattern_forces_rm(const char *text)
{
	size_t at = dash_length(text);
	bool has_force = false;
	if (at == 0)
		return false;
	while (text[at]) {
		size_t length = bracket_length(text + at);
		bool is_open = length > 0 || strchr("*?", text[at]);
		if (!is_open && !strchr("dfiIrRv-", text[at]))
			return false;
		has_force = has_force || is_open || text[at] == 'f';
		at += length > 0 ? length : 1;
	}
	return has_force;
}

bool command_word_forces_rm(const struct command_word *word)
{
	const char *text = word->text;
	if (text[0] == '-' && word->can_vary)
		return true;
	if (is_short_option(text, 'f') || (strlen(text) > 2 && strncmp(text, "--force", strlen(text)) == 0))
		return true;
	return word->can_vary &&
	       (pattern_forces_rm(text) || (dash_length(text) > 0 && command_word_can_be(word, STR("--force"))));
}

bool command_scan_forces_rm(struct str script)
{
	size_t steps = STEPS_FACTOR * script.len;
	return script.len <= LIMIT_COMMAND_PARSE && scan_script(script, 0, 0, &steps);
}
