/* The last line that fits decides, so lines are tried from the end. Of the stars of a pattern only the last one within
 * a part of a path, and the last double one, have to be tried anew: what an earlier one could take, a later one can
 * take as well. That still costs the product of the lengths, so steps are counted; without any left nothing fits. */
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

static bool spend(size_t *steps, size_t count)
{
	*steps -= count < *steps ? count : *steps;
	return *steps > 0;
}

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

/* A bracket may be as long as the file: what is read of it counts. */
static size_t match_bracket(struct str pattern, char c, size_t *steps)
{
	bool fits;
	size_t len = match_class(pattern, c, &fits);
	spend(steps, len ? len : pattern.len);
	if (len)
		return fits && c != '/' ? len : 0;
	return c == '[';
}

/* One character of text against what pattern begins with; the length of that, 0: it does not fit. */
static size_t match_one(struct str pattern, char c, size_t *steps)
{
	switch (pattern.ptr[0]) {
	case '?':
		return c != '/';
	case '[':
		return match_bracket(pattern, c, steps);
	case '\\':
		if (pattern.len > 1)
			return pattern.ptr[1] == c ? 2 : 0;
		return c == '\\';
	default:
		return pattern.ptr[0] == c;
	}
}

/* Where to go on when the rest does not fit: a star takes more of the text. */
struct star {
	bool is_set;
	bool by_folder; /* "**" and a slash: whole folders, or none */
	struct str pattern, text;
};

struct match {
	const char *start;        /* of the pattern */
	struct str pattern, text; /* what is left of both */
	struct star single, twice;
	size_t *steps;
};

/* Between slashes, or at an end of the pattern. Elsewhere two stars are two single ones (gitignore(5)), so that the
 * last double one can always take what those before it could: whole folders. */
static bool is_double_star(const struct match *m)
{
	struct str rest = m->pattern;
	bool is_first = rest.ptr == m->start || rest.ptr[-1] == '/';
	return is_first && rest.len > 1 && rest.ptr[1] == '*' && (rest.len == 2 || rest.ptr[2] == '/');
}

/* pattern begins with a star. */
static void take_star(struct match *m)
{
	bool is_double = is_double_star(m);
	bool by_folder = is_double && m->pattern.len > 2;
	m->pattern = str_skip(m->pattern, (size_t)1 + is_double + by_folder);
	m->single.is_set = false;
	*(is_double ? &m->twice : &m->single) = (struct star){true, by_folder, m->pattern, m->text};
}

static bool widen_single(struct star *star)
{
	star->is_set = star->is_set && star->text.len && star->text.ptr[0] != '/';
	if (star->is_set)
		star->text = str_skip(star->text, 1);
	return star->is_set;
}

static bool widen_twice(struct star *star, size_t *steps)
{
	ptrdiff_t slash = star->is_set && star->by_folder ? str_find_char(star->text, '/') : 0;
	star->is_set = star->is_set && star->text.len && slash >= 0;
	if (star->is_set)
		star->text = str_skip(star->text, (size_t)slash + 1);
	return star->is_set && spend(steps, (size_t)slash + 1);
}

static bool go_back(struct match *m)
{
	struct star *star = widen_single(&m->single) ? &m->single : widen_twice(&m->twice, m->steps) ? &m->twice : NULL;
	if (!star)
		return false;
	m->pattern = star->pattern;
	m->text = star->text;
	return true;
}

bool ignore_glob_match(struct str pattern, struct str text, size_t *steps)
{
	struct match m = {.start = pattern.ptr, .pattern = pattern, .text = text, .steps = steps};
	while (spend(steps, 1)) {
		if (m.pattern.len && m.pattern.ptr[0] == '*') {
			take_star(&m);
			continue;
		}
		if (!m.pattern.len && !m.text.len)
			return true;
		size_t len = m.pattern.len && m.text.len ? match_one(m.pattern, m.text.ptr[0], steps) : 0;
		if (len) {
			m.pattern = str_skip(m.pattern, len);
			m.text = str_skip(m.text, 1);
		} else if (!go_back(&m)) {
			return false;
		}
	}
	return false;
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

/* One pattern has a bound of its own, so that it does not use up what the others need. */
static bool rule_fits(const struct rule *rule, struct str path, struct str name, size_t *steps)
{
	size_t own = *steps < LIMIT_GLOB_STEPS ? *steps : LIMIT_GLOB_STEPS, left = own;
	bool fits = ignore_glob_match(rule->pattern, rule->is_anchored ? path : name, &left);
	spend(steps, own - left);
	return fits;
}

enum ignore_verdict ignore_rules_match(const struct ignore_rules *rules, struct str path, bool is_folder, size_t *steps)
{
	ptrdiff_t slash = str_rfind_char(path, '/');
	struct str name = slash < 0 ? path : str_skip(path, (size_t)slash + 1);
	for (size_t i = rules->rules.count; i-- > 0 && spend(steps, 1);) {
		const struct rule *rule = &rules->rules.items[i];
		if (rule->folders_only && !is_folder)
			continue;
		if (rule_fits(rule, path, name, steps))
			return rule->is_negated ? IGNORE_KEEP : IGNORE_SKIP;
	}
	return IGNORE_SILENT;
}
