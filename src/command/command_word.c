/* A pattern is judged by its elements: "[a-z]*" cannot become an option, "[!a]f" can. The answers may be wrong only in
 * one direction, "could be", except for the common forms that are named below. */
#include "command/command_word.h"

#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"
#include "command/command_parse.h"

enum { WORD_STEPS = 64 * KIB };

bool command_word_is_expanded(const struct command_word *word)
{
	return word->can_vary && strchr(word->text, COMMAND_EXPANSION);
}

bool command_word_is_unknown(const struct command_word *word)
{
	static const char only[] = {COMMAND_EXPANSION, '\0'};
	return word->can_vary && word->text[0] && word->text[strspn(word->text, only)] == '\0';
}

/* Replaces expansions and bracket expressions by "*": the meaning of brackets depends on the locale, and a quoted one
 * means itself. */
static struct str widen(const char *text, char *out)
{
	size_t len = 0;
	while (*text) {
		const char *end = *text == '[' ? strchr(text + 1, ']') : NULL;
		out[len++] = end || *text == COMMAND_EXPANSION ? '*' : *text;
		text = end ? end + 1 : text + 1;
	}
	return str_n(out, len);
}

bool command_word_can_be(const struct command_word *word, struct str text)
{
	if (!word->can_vary)
		return str_is(text, word->text);
	size_t steps = WORD_STEPS;
	auto_free char *pattern = xmalloc(strlen(word->text) + 1);
	return glob_match(widen(word->text, pattern), text, GLOB_NAME, &steps) || steps == 0;
}

/* The length of the bracket expression at the start of text, 0 without one. A first ] means itself. */
static size_t bracket_length(const char *text)
{
	size_t first = text[0] == '[' ? 1 + strspn(text + 1, "^!") : 0;
	const char *end = first > 0 && text[first] ? strchr(text + first + 1, ']') : NULL;
	return end ? (size_t)(end - text) + 1 : 0;
}

/* False for letters, digits and ranges between them. Other ranges and negations depend on the locale. */
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

/* The length of a pattern's first element if it can become "-", else 0. `rm *` and `rm ?*` are too common to ask
 * about, though a file named -f would turn them into rm -f. */
static size_t dash_length(const char *text)
{
	size_t length = bracket_length(text);
	if (length > 0)
		return bracket_can_be_dash(text, length) ? length : 0;
	bool is_any = text[0] == '?' && text[strspn(text, "?")] != '*';
	return text[0] == '-' || is_any ? 1 : 0;
}

/* True if a pattern can become short options of rm with f among them. */
static bool pattern_forces_rm(const char *text)
{
	size_t at = dash_length(text);
	bool has_force = false;
	if (at == 0)
		return false;
	while (text[at]) {
		size_t length = bracket_length(text + at);
		bool is_open = length > 0 || strchr("*?\x01", text[at]);
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
	if ((text[0] == '-' && text[1] != '-' && strchr(text, 'f')) ||
	    (strlen(text) > 2 && strncmp(text, "--force", strlen(text)) == 0))
		return true;
	return word->can_vary &&
	       (pattern_forces_rm(text) || (dash_length(text) > 0 && command_word_can_be(word, STR("--force"))));
}
