/* On a mismatch, only the last "*" within a path component and the last "**" are retried: an earlier star cannot
 * match anything that a later one could not. The cost is still the product of both lengths, so steps are counted. */
#include "base/glob.h"

/* Takes count steps from the budget; false if it does not have as many. */
static bool spend(size_t *steps, size_t count)
{
	*steps -= count < *steps ? count : *steps;
	return *steps > 0;
}

/* Returns the length of the class "[…]" at the start of pattern and sets *ret to whether c is in it. Returns 0 if
 * there is no closing bracket: the opening one is then an ordinary character. */
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

/* A class may be as long as the pattern, so each of its characters costs a step. */
static size_t match_bracket(struct str pattern, char c, size_t *steps)
{
	bool fits;
	size_t len = match_class(pattern, c, &fits);
	spend(steps, len ? len : pattern.len);
	if (len)
		return fits && c != '/' ? len : 0;
	return c == '[';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Returns the number of pattern bytes that match c, or 0 if the pattern does not match c. */
static size_t match_in_path(struct str pattern, char c, size_t *steps)
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

static size_t match_one(struct str pattern, char c, enum glob_kind kind, size_t *steps)
{
	if (kind == GLOB_PATH)
		return match_in_path(pattern, c, steps);
	return pattern.ptr[0] == '?' || lower(pattern.ptr[0]) == lower(c);
}

/* A position to backtrack to after a mismatch: the star then matches more of the text. */
struct star {
	bool is_set;
	bool by_folder; /* a double star before a slash matches whole folders only */
	struct str pattern, text;
};

struct match {
	const char *start; /* of the whole pattern */
	enum glob_kind kind;
	struct str pattern, text; /* not matched yet */
	struct star single, twice;
	size_t *steps;
};

/* "**" is special between slashes or at an end of the pattern; elsewhere it is two single stars (gitignore(5)). */
static bool is_double_star(const struct match *m)
{
	if (m->kind != GLOB_PATH)
		return false;
	struct str rest = m->pattern;
	bool is_first = rest.ptr == m->start || rest.ptr[-1] == '/';
	return is_first && rest.len > 1 && rest.ptr[1] == '*' && (rest.len == 2 || rest.ptr[2] == '/');
}

/* Consumes the star at the start of the pattern and records where to backtrack to. */
static void take_star(struct match *m)
{
	bool is_double = is_double_star(m);
	bool by_folder = is_double && m->pattern.len > 2;
	m->pattern = str_skip(m->pattern, (size_t)1 + is_double + by_folder);
	m->single.is_set = false;
	*(is_double ? &m->twice : &m->single) = (struct star){true, by_folder, m->pattern, m->text};
}

static bool widen_single(struct star *star, enum glob_kind kind)
{
	bool is_end = !star->text.len || (kind == GLOB_PATH && star->text.ptr[0] == '/');
	star->is_set = star->is_set && !is_end;
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
	struct star *star = NULL;
	if (widen_single(&m->single, m->kind))
		star = &m->single;
	else if (widen_twice(&m->twice, m->steps))
		star = &m->twice;
	if (!star)
		return false;
	m->pattern = star->pattern;
	m->text = star->text;
	return true;
}

bool glob_match(struct str pattern, struct str text, enum glob_kind kind, size_t *steps)
{
	struct match m = {.start = pattern.ptr, .kind = kind, .pattern = pattern, .text = text, .steps = steps};
	while (spend(steps, 1)) {
		if (m.pattern.len && m.pattern.ptr[0] == '*') {
			take_star(&m);
			continue;
		}
		if (!m.pattern.len && !m.text.len)
			return true;
		size_t len = m.pattern.len && m.text.len ? match_one(m.pattern, m.text.ptr[0], kind, steps) : 0;
		if (len) {
			m.pattern = str_skip(m.pattern, len);
			m.text = str_skip(m.text, 1);
		} else if (!go_back(&m)) {
			return false;
		}
	}
	return false;
}
