/* Only the last single star within a part of a path and the last double star are ever widened: a later star can take
 * what an earlier one could. That still costs the product of the lengths, so steps are counted. */
#include "base/glob.h"

/* False: no steps are left. */
static bool spend(size_t *steps, size_t count)
{
	*steps -= count < *steps ? count : *steps;
	return *steps > 0;
}

/* The length of "[…]" at the start of pattern, and in *ret whether c is in it. 0: without a closing bracket the opening
 * one stands for itself. */
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

/* A bracket may be as long as the pattern, so each of its characters costs a step. */
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

/* The length of what matches c at the start of a path's pattern; 0: it does not match. */
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

/* The position to resume at if the rest does not match: the star then matches more of the text. */
struct star {
	bool is_set;
	bool by_folder; /* "**" and a slash: takes whole folders, or none */
	struct str pattern, text;
};

struct match {
	const char *start; /* of the pattern */
	enum glob_kind kind;
	struct str pattern, text; /* the rest of both */
	struct star single, twice;
	size_t *steps;
};

/* Two stars between slashes or at an end of the pattern; elsewhere they are two single ones (gitignore(5)). So the last
 * double star can always take what the ones before it could: whole folders. */
static bool is_double_star(const struct match *m)
{
	if (m->kind != GLOB_PATH)
		return false;
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
