/* A pattern fits a path as a table of all prefixes says, which is slow and simple; a file of patterns says what its
 * last line that fits says, and neither costs more steps than it is given. The first line of an input is a path, the
 * others are a .gitignore file. */
#include "fuzz.h"

#include "base/glob.h"
#include "base/mem.h"
#include "workspace/ignore_rules.h"
#include "workspace/workspace_limits.h"

enum { MAX_LEN = 48, MAX_LINES = 24 };
enum token_kind { LITERAL, ANY, CLASS, STAR, STARS, FOLDERS };

struct token {
	enum token_kind kind;
	struct str text; /* the character, or what stands between the brackets */
};

/* ---- the slow way ---- */

static bool is_in_class(struct str inner, unsigned char c)
{
	bool is_negated = inner.len && (inner.ptr[0] == '!' || inner.ptr[0] == '^'), is_found = false;
	for (size_t i = is_negated; i < inner.len; i++) {
		i += inner.ptr[i] == '\\' && i + 1 < inner.len;
		unsigned char low = (unsigned char)inner.ptr[i], high = low;
		if (i + 2 < inner.len && inner.ptr[i + 1] == '-') {
			high = (unsigned char)inner.ptr[i + 2];
			i += 2;
		}
		is_found |= low <= c && c <= high;
	}
	return is_found != is_negated;
}

/* Length of "[…]" at the start; 0: it has no end. */
static size_t class_length(struct str s)
{
	size_t i = 1 + (s.len > 1 && (s.ptr[1] == '!' || s.ptr[1] == '^')), first = i;
	for (; i < s.len; i++) {
		if (s.ptr[i] == ']' && i != first)
			return i + 1;
		i += s.ptr[i] == '\\' && i + 1 < s.len;
		if (i + 2 < s.len && s.ptr[i + 1] == '-' && s.ptr[i + 2] != ']')
			i += 2;
	}
	return 0;
}

/* is_first: at the start of the pattern, or after a slash. */
static size_t read_token(struct str s, bool is_first, struct token *ret)
{
	size_t len = s.ptr[0] == '[' ? class_length(s) : 0;
	*ret = (struct token){LITERAL, str_n(s.ptr, 1)};
	if (len) {
		*ret = (struct token){CLASS, str_n(s.ptr + 1, len - 2)};
		return len;
	}
	if (s.ptr[0] == '?')
		ret->kind = ANY;
	if (s.ptr[0] == '\\' && s.len > 1) {
		ret->text = str_n(s.ptr + 1, 1);
		return 2;
	}
	if (s.ptr[0] != '*')
		return 1;
	len = is_first && s.len > 1 && s.ptr[1] == '*' && (s.len == 2 || s.ptr[2] == '/') ? 2 : 1;
	len += len == 2 && s.len > 2;
	ret->kind = len == 1 ? STAR : len == 2 ? STARS : FOLDERS;
	return len;
}

static bool fits_one(const struct token *token, char c)
{
	if (token->kind == LITERAL)
		return token->text.ptr[0] == c;
	return c != '/' && (token->kind == ANY || is_in_class(token->text, (unsigned char)c));
}

/* from[j]: what stood before the token may end at j; to[j]: with the token. */
static void advance(const struct token *token, struct str text, const bool *from, bool *to)
{
	bool is_open = false; /* a star began earlier and reaches j */
	for (size_t j = 0; j <= text.len; j++) {
		char last = j ? text.ptr[j - 1] : '/';
		switch (token->kind) {
		case STAR:
			is_open = from[j] || (is_open && last != '/');
			to[j] = is_open;
			break;
		case STARS:
			to[j] = is_open |= from[j];
			break;
		case FOLDERS:
			to[j] = from[j] || (is_open && last == '/');
			is_open |= from[j];
			break;
		default:
			to[j] = j && from[j - 1] && fits_one(token, last);
		}
	}
}

static bool slow_match(struct str pattern, struct str text)
{
	bool rows[2][MAX_LEN + 1] = {{true}};
	size_t row = 0;
	bool is_first = true;
	while (pattern.len) {
		struct token token;
		size_t len = read_token(pattern, is_first, &token);
		is_first = pattern.ptr[len - 1] == '/';
		pattern = str_skip(pattern, len);
		advance(&token, text, rows[row], rows[!row]);
		row = !row;
	}
	return rows[row][text.len];
}

/* ---- the check ---- */

static enum ignore_verdict verdict_of(struct str file, struct str path, bool is_folder, size_t *steps)
{
	struct ignore_rules *rules = ignore_rules_create(file);
	enum ignore_verdict verdict = ignore_rules_match(rules, path, is_folder, steps);
	ignore_rules_destroy(rules);
	return verdict;
}

static struct str cut(struct str s)
{
	s.len = s.len < MAX_LEN ? s.len : MAX_LEN;
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str file = {(const char *)data, size}, path, line, rest;
	enum ignore_verdict last[2] = {IGNORE_SILENT, IGNORE_SILENT};
	bool has_mark = false; /* a byte order mark, which is skipped at the start of a file only */
	if (!str_next_line(&file, &path))
		return 0;
	path = cut(path);
	rest = file;
	for (size_t i = 0; i < MAX_LINES && str_next_line(&rest, &line); i++) {
		size_t steps = LIMIT_WALK_STEPS, few = size % 64;
		has_mark |= str_has_prefix(line, "\xef\xbb\xbf");
		fuzz_check(glob_match(cut(line), path, GLOB_PATH, &steps) == slow_match(cut(line), path));
		fuzz_check(!glob_match(cut(line), path, GLOB_PATH, &few) || slow_match(cut(line), path));
		for (int is_folder = 0; is_folder < 2; is_folder++) {
			enum ignore_verdict one = verdict_of(line, path, is_folder, &steps);
			last[is_folder] = one == IGNORE_SILENT ? last[is_folder] : one;
		}
	}
	file.len -= rest.ptr ? rest.len : 0;
	for (int is_folder = 0; is_folder < 2; is_folder++) {
		size_t steps = (size_t)1 << 40, none = 0, few = size;
		fuzz_check(has_mark || verdict_of(file, path, is_folder, &steps) == last[is_folder]);
		fuzz_check(verdict_of(file, path, is_folder, &none) == IGNORE_SILENT);
		verdict_of(file, path, is_folder, &few);
		fuzz_check(few <= size);
	}
	return 0;
}
