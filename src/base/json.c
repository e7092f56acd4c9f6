/* Access to a parsed tree. Members are found by a linear search: wire objects have few, and building an index would
 * cost more than all look-ups. Integers are converted from the decimal spelling, not through a double, so that 64-bit
 * ids and token counts stay exact. */
#include "base/json.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Most names differ in their length or in their first byte. */
static inline bool is_name(struct str key, struct str name)
{
	return key.len == name.len && (!key.len || (key.ptr[0] == name.ptr[0] && str_eq(key, name)));
}

static const struct json *member(const struct json *parent, struct str key)
{
	const struct json *found = NULL;
	if (!json_is(parent, JSON_object))
		return NULL;
	json_for_each(it, parent) {
		if (is_name(it->key, key))
			found = it;
	}
	return found;
}

void json_pick(const struct json *parent, const struct str *names, size_t count, const struct json **ret)
{
	memset(ret, 0, count * sizeof(*ret));
	json_for_each(it, json_is(parent, JSON_object) ? parent : NULL) {
		for (size_t i = 0; i < count; i++) {
			if (is_name(it->key, names[i]))
				ret[i] = it;
		}
	}
}

const struct json *json_get(const struct json *parent, const char *key)
{
	return member(parent, str_of(key));
}

const struct json *json_path(const struct json *root, const char *path)
{
	struct str rest = str_of(path), name;
	while (root && str_next_part(&rest, '.', &name))
		root = member(root, name);
	return root;
}

const struct json *json_at(const struct json *array, size_t index)
{
	if (!json_is(array, JSON_array))
		return NULL;
	json_for_each(it, array) {
		if (index-- == 0)
			return it;
	}
	return NULL;
}

bool json_to_str(const struct json *node, struct str *ret)
{
	if (!json_is(node, JSON_string))
		return false;
	*ret = node->text;
	return true;
}

bool json_to_bool(const struct json *node, bool *ret)
{
	if (!json_is(node, JSON_bool))
		return false;
	*ret = node->boolean;
	return true;
}

/* value * 10^power, false if the result is not an integer or does not fit. */
static bool scale(uint64_t value, int64_t power, uint64_t *ret)
{
	for (; value && power > 0; power--) {
		if (__builtin_mul_overflow(value, (uint64_t)10, &value))
			return false;
	}
	*ret = value;
	return value == 0 || power == 0;
}

/* The exponent after 'e'; a value beyond 64 bits is clamped. */
static int64_t exponent(struct str digits)
{
	int64_t power;
	str_cut_prefix(&digits, "+");
	if (str_to_i64(digits, &power) && power > -INT32_MAX && power < INT32_MAX)
		return power;
	return digits.ptr[0] == '-' ? -INT32_MAX : INT32_MAX;
}

/* The magnitude of a number's spelling. Zeros are counted and applied only when a digit follows, so that 1.50e1 and
 * 100e-2 are recognised as integers. */
static bool magnitude(struct str spelling, uint64_t *ret)
{
	uint64_t value = 0;
	int64_t zeros = 0, power = 0;
	bool fraction = false;
	for (size_t i = 0; i < spelling.len; i++) {
		char c = spelling.ptr[i];
		if (c == '.') {
			fraction = true;
			continue;
		}
		if (c == 'e' || c == 'E') {
			power += exponent(str_skip(spelling, i + 1));
			break;
		}
		power -= fraction;
		zeros++;
		if (c == '0')
			continue;
		if (!scale(value, zeros, &value) || __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
			return false;
		zeros = 0;
	}
	return scale(value, power + zeros, ret);
}

static bool split_sign(const struct json *node, bool *ret_negative, uint64_t *ret_magnitude)
{
	if (!json_is(node, JSON_number))
		return false;
	struct str spelling = node->text;
	*ret_negative = str_cut_prefix(&spelling, "-");
	return str_to_u64(spelling, ret_magnitude) || magnitude(spelling, ret_magnitude);
}

bool json_to_i64(const struct json *node, int64_t *ret)
{
	bool negative;
	uint64_t value;
	if (!split_sign(node, &negative, &value) || value > (uint64_t)INT64_MAX + negative)
		return false;
	*ret = negative ? (int64_t)(0 - value) : (int64_t)value;
	return true;
}

bool json_to_u64(const struct json *node, uint64_t *ret)
{
	bool negative;
	uint64_t value;
	if (!split_sign(node, &negative, &value) || (negative && value))
		return false;
	*ret = value;
	return true;
}

/* Unlike strtod, ignores the host program's locale. (For "C" neither glibc nor musl allocates.) */
static double parse_double(const char *text)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double value = strtod_l(text, NULL, c);
	freelocale(c);
	return value;
}

bool json_to_double(const struct json *node, double *ret)
{
	if (!json_is(node, JSON_number))
		return false;
	char small[64];
	auto_free char *large = node->text.len < sizeof(small) ? NULL : str_dup(node->text);
	if (!large) {
		memcpy(small, node->text.ptr, node->text.len);
		small[node->text.len] = '\0';
	}
	double value = parse_double(large ? large : small);
	if (isinf(value))
		return false;
	*ret = value;
	return true;
}

struct str json_get_str(const struct json *parent, const char *key)
{
	struct str text = STR_NONE;
	json_to_str(json_get(parent, key), &text);
	return text;
}

int64_t json_get_i64(const struct json *parent, const char *key, int64_t fallback)
{
	json_to_i64(json_get(parent, key), &fallback);
	return fallback;
}

bool json_get_bool(const struct json *parent, const char *key, bool fallback)
{
	json_to_bool(json_get(parent, key), &fallback);
	return fallback;
}

const char *json_type_name(enum json_type type)
{
	static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
	return type < countof(names) ? names[type] : "unknown";
}

/* ---- equality ---- */

/* By name, then by position in the text: of duplicate names the last one counts. */
static int compare_members(const void *a, const void *b)
{
	const struct json *x = *(const struct json *const *)a, *y = *(const struct json *const *)b;
	int order = str_compare(x->key, y->key);
	return order ? order : (x->span.ptr > y->span.ptr) - (x->span.ptr < y->span.ptr);
}

/* The members of an object without shadowed duplicates, sorted by name. The caller frees. */
static const struct json **sorted_members(const struct json *object, size_t *ret_count)
{
	const struct json **members = xcalloc(object->count + 1, sizeof(struct json *));
	size_t count = 0, kept = 0;
	json_for_each(it, object)
		members[count++] = it;
	qsort(members, count, sizeof(struct json *), compare_members);
	for (size_t i = 0; i < count; i++) {
		if (i + 1 == count || !str_eq(members[i]->key, members[i + 1]->key))
			members[kept++] = members[i];
	}
	*ret_count = kept;
	return members;
}

static bool objects_equal(const struct json *a, const struct json *b)
{
	size_t a_count, b_count;
	auto_free const struct json **x = sorted_members(a, &a_count);
	auto_free const struct json **y = sorted_members(b, &b_count);
	bool equal = a_count == b_count;
	for (size_t i = 0; equal && i < a_count; i++)
		equal = str_eq(x[i]->key, y[i]->key) && json_equal(x[i], y[i]);
	return equal;
}

static bool arrays_equal(const struct json *a, const struct json *b)
{
	const struct json *y = b->child;
	if (a->count != b->count)
		return false;
	json_for_each(x, a) {
		if (!json_equal(x, y))
			return false;
		y = y->next;
	}
	return true;
}

static bool numbers_equal(const struct json *a, const struct json *b)
{
	double x, y;
	return str_eq(a->text, b->text) || (json_to_double(a, &x) && json_to_double(b, &y) && x == y);
}

bool json_equal(const struct json *a, const struct json *b)
{
	if (!a || !b || a->type != b->type)
		return a == b;
	switch (a->type) {
	case JSON_null:
		return true;
	case JSON_bool:
		return a->boolean == b->boolean;
	case JSON_number:
		return numbers_equal(a, b);
	case JSON_string:
		return str_eq(a->text, b->text);
	case JSON_array:
		return arrays_equal(a, b);
	case JSON_object:
		return objects_equal(a, b);
	}
	return false;
}
