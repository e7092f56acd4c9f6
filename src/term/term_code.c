/* The lexer goes through a line once. Names are compared with the keywords of the language one after the other: there
 * are at most a hundred, and most differ in the first byte. */
#include "term/term_code.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "term/term_text.h"

enum { FOLD = 1, NAMES = 2, LINES = 4 };

struct term_language {
	const char *names, *line, *second, *begin, *end, *quotes, *over_lines;
	unsigned flags;
	const char *keywords;
};

static const struct term_language languages[] = {
#define LANGUAGE(names, line, second, begin, end, quotes, over_lines, flags, keywords) \
	{names, line, second, begin, end, quotes, over_lines, flags, keywords},
#include "term/term_language.def"
#undef LANGUAGE
};

/* Returns true if a list of words, separated by blanks, has this one. */
static bool has_word(const char *list, struct str word, bool folds)
{
	struct str rest = str_of(list), part;
	while (str_next_part(&rest, ' ', &part)) {
		if (folds ? str_equal_fold(part, word) : str_eq(part, word))
			return true;
	}
	return false;
}

static const struct term_language *find_language(struct str name)
{
	for (size_t i = 0; i < countof(languages); i++) {
		if (has_word(languages[i].names, name, true))
			return &languages[i];
	}
	return NULL;
}

void term_code_init(struct term_code *code, struct str name)
{
	*code = (struct term_code){.language = name.len ? find_language(name) : NULL};
}

struct str term_code_name(struct str path)
{
	struct str name = str_skip(path, (size_t)(str_rfind_char(path, '/') + 1));
	ptrdiff_t dot = str_rfind_char(name, '.');
	name = str_skip(name, dot > 0 ? (size_t)dot + 1 : 0);
	return name.len && find_language(name) ? name : STR("");
}

/* ---- one line ---- */

struct line {
	struct term_code *code;
	struct term_text *text;
	struct str rest;
};

static void take(struct line *line, enum term_style style, size_t len)
{
	term_text_add(line->text, style, str_n(line->rest.ptr, len));
	line->rest = str_skip(line->rest, len);
}

static bool begins(const struct line *line, const char *prefix)
{
	return *prefix && str_has_prefix(line->rest, prefix);
}

/* Takes the rest of a comment or text that may continue in the next line. */
static void take_until(struct line *line, size_t skip, const char *end)
{
	bool is_comment = strcmp(end, line->code->language->end) == 0;
	ptrdiff_t at = str_find(str_skip(line->rest, skip), str_of(end));
	line->code->until = at < 0 ? end : NULL;
	take(line, is_comment ? TERM_comment : TERM_string, at < 0 ? line->rest.len : skip + (size_t)at + strlen(end));
}

/* Takes a text in quotes; a backslash keeps the next character in it. */
static void take_quoted(struct line *line)
{
	char quote = line->rest.ptr[0];
	size_t at = 1;
	while (at < line->rest.len && line->rest.ptr[at] != quote)
		at += line->rest.ptr[at] == '\\' ? 2 : 1;
	take(line, TERM_string, at < line->rest.len ? at + 1 : line->rest.len);
}

static bool take_over_lines(struct line *line)
{
	struct str rest = str_of(line->code->language->over_lines), mark;
	while (str_next_part(&rest, ' ', &mark)) {
		if (!mark.len || line->rest.len < mark.len || memcmp(line->rest.ptr, mark.ptr, mark.len) != 0)
			continue;
		/* the marks of the table are \"\"\", ''' and ` */
		take_until(line, mark.len, mark.len == 1 ? "`" : mark.ptr[0] == '"' ? "\"\"\"" : "'''");
		return true;
	}
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || (c & 0x80);
}

static void take_name(struct line *line)
{
	const struct term_language *language = line->code->language;
	size_t len = 1, after;
	while (len < line->rest.len && (is_name(line->rest.ptr[len]) || line->rest.ptr[len] == '?'))
		len++;
	for (after = len; after < line->rest.len && line->rest.ptr[after] == ' ';)
		after++;
	bool is_keyword = has_word(language->keywords, str_n(line->rest.ptr, len), language->flags & FOLD);
	if (language->flags & NAMES && after < line->rest.len && strchr(":=", line->rest.ptr[after]))
		is_keyword = true;
	take(line, is_keyword ? TERM_keyword : TERM_plain, len);
}

static void take_number(struct line *line)
{
	size_t len = 1;
	while (len < line->rest.len && (is_name(line->rest.ptr[len]) || line->rest.ptr[len] == '.'))
		len++;
	take(line, TERM_number, len);
}

static void take_one(struct line *line)
{
	const struct term_language *language = line->code->language;
	char c = line->rest.ptr[0];
	if (begins(line, language->begin))
		take_until(line, strlen(language->begin), language->end);
	else if (begins(line, language->line) || begins(line, language->second))
		take(line, TERM_comment, line->rest.len);
	else if (take_over_lines(line))
		return;
	else if (c && strchr(language->quotes, c))
		take_quoted(line);
	else if (is_digit(c))
		take_number(line);
	else if (is_name(c) || c == '#')
		take_name(line);
	else
		take(line, TERM_plain, 1);
}

/* A line of a diff has one style. */
static void take_diff(struct line *line)
{
	char c = line->rest.len ? line->rest.ptr[0] : ' ';
	enum term_style style = TERM_plain;
	if (c == '+')
		style = TERM_green;
	else if (c == '-')
		style = TERM_red;
	else if (c == '@')
		style = TERM_cyan;
	take(line, style, line->rest.len);
}

void term_code_add(struct term_code *code, struct str bytes, struct term_text *text)
{
	struct line line = {code, text, bytes};
	if (!code->language) {
		take(&line, TERM_plain, bytes.len);
		return;
	}
	if (code->language->flags & LINES) {
		take_diff(&line);
		return;
	}
	if (code->until && bytes.len)
		take_until(&line, 0, code->until);
	while (line.rest.len)
		take_one(&line);
}
