/* The last line that fits decides, so lines are tried from the end. A pattern with many stars could be tried in very
 * many ways; the steps of one match are counted and, past a limit, it does not fit. */
#include "workspace/ignore_rules.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"

struct rule {
	struct str pattern;
	bool is_negated, folders_only;
	bool is_anchored; /* from the file's folder on; else the last part of a path alone is looked at */
};

struct ignore_rules {
	char *text;
	VEC(struct rule) rules;
};

/* ---- patterns ---- */

/* Past "[…]" of pattern; *ret: c is in it. 0: there is no end, so the bracket means itself. */
static size_t match_class(struct str pattern, char c, bool *ret)
{
	size_t i = 1;
	bool is_negated = i < pattern.len && (pattern.ptr[i] == '!' || pattern.ptr[i] == '^');
	bool is_found = false;
	i += is_negated;
	for (size_t first = i; i < pattern.len && (pattern.ptr[i] != ']' || i == first); i++) {
		if (pattern.ptr[i] == '\\' && i + 1 < pattern.len)
			i++;
		char low = pattern.ptr[i], high = low;
		if (i + 2 < pattern.len && pattern.ptr[i + 1] == '-' && pattern.ptr[i + 2] != ']') {
			high = pattern.ptr[i + 2];
			i += 2;
		}
		is_found |= (unsigned char)c >= (unsigned char)low && (unsigned char)c <= (unsigned char)high;
	}
	*ret = is_found != is_negated;
	return i < pattern.len ? i + 1 : 0;
}

/* One character of text against what pattern begins with; the length of that, 0: it does not fit. */
static size_t match_one(struct str pattern, char c)
{
	bool fits;
	size_t len;
	switch (pattern.ptr[0]) {
	case '?':
		return c != '/';
	case '[':
		len = match_class(pattern, c, &fits);
		if (len)
			return fits && c != '/' ? len : 0;
		return c == '[';
	case '\\':
		if (pattern.len > 1)
			return pattern.ptr[1] == c ? 2 : 0;
		return c == '\\';
	default:
		return pattern.ptr[0] == c;
	}
}

static bool match(struct str pattern, struct str text, unsigned *steps);

/* pattern begins with a star. */
static bool match_star(struct str pattern, struct str text, unsigned *steps)
{
	bool is_double = pattern.len > 1 && pattern.ptr[1] == '*';
	struct str rest = str_skip(pattern, is_double ? 2 : 1);
	/* "**" and a slash also stands for no folder at all. */
	if (is_double && rest.len && rest.ptr[0] == '/' && match(str_skip(rest, 1), text, steps))
		return true;
	for (;;) {
		if (match(rest, text, steps))
			return true;
		if (text.len == 0 || (text.ptr[0] == '/' && !is_double))
			return false;
		text = str_skip(text, 1);
	}
}

static bool match(struct str pattern, struct str text, unsigned *steps)
{
	while (pattern.len) {
		if (++*steps > LIMIT_GLOB_STEPS)
			return false;
		if (pattern.ptr[0] == '*')
			return match_star(pattern, text, steps);
		size_t len = text.len ? match_one(pattern, text.ptr[0]) : 0;
		if (!len)
			return false;
		pattern = str_skip(pattern, len);
		text = str_skip(text, 1);
	}
	return text.len == 0;
}

bool ignore_glob_match(struct str pattern, struct str text)
{
	unsigned steps = 0;
	return match(pattern, text, &steps);
}

/* ---- lines ---- */

/* Blanks at the end are not meant, unless the last of them is quoted. */
static struct str trim_end(struct str line)
{
	while (line.len && (line.ptr[line.len - 1] == ' ' || line.ptr[line.len - 1] == '\r') &&
	       !(line.len > 1 && line.ptr[line.len - 2] == '\\'))
		line.len--;
	return line;
}

static void add_line(struct ignore_rules *rules, struct str line)
{
	struct rule rule = {0};
	line = trim_end(line);
	if (line.len == 0 || line.ptr[0] == '#')
		return;
	rule.is_negated = str_cut_prefix(&line, "!");
	if (line.len && line.ptr[line.len - 1] == '/') {
		rule.folders_only = true;
		line.len--;
	}
	rule.is_anchored = str_find_char(line, '/') >= 0;
	str_cut_prefix(&line, "/");
	rule.pattern = line;
	if (line.len)
		vec_push(&rules->rules, rule);
}

struct ignore_rules *ignore_rules_create(struct str text)
{
	struct ignore_rules *rules = xnew(struct ignore_rules);
	rules->text = str_dup(text);
	struct str rest = str_n(rules->text, text.len), line;
	str_cut_prefix(&rest, "\xef\xbb\xbf");
	while (rules->rules.count < LIMIT_IGNORE_RULES && str_next_line(&rest, &line))
		add_line(rules, line);
	return rules;
}

void ignore_rules_destroy(struct ignore_rules *rules)
{
	if (!rules)
		return;
	vec_finish(&rules->rules);
	free(rules->text);
	free(rules);
}

enum ignore_verdict ignore_rules_match(const struct ignore_rules *rules, struct str path, bool is_folder)
{
	ptrdiff_t slash = str_rfind_char(path, '/');
	struct str name = slash < 0 ? path : str_skip(path, (size_t)slash + 1);
	for (size_t i = rules->rules.count; i-- > 0;) {
		const struct rule *rule = &rules->rules.items[i];
		if (rule->folders_only && !is_folder)
			continue;
		if (ignore_glob_match(rule->pattern, rule->is_anchored ? path : name))
			return rule->is_negated ? IGNORE_KEEP : IGNORE_SKIP;
	}
	return IGNORE_SILENT;
}
