/* The first line is a path, the second a value ("" removes), the rest a document. A change that is taken does to the
 * text what it would do to the tree; one that is refused leaves the text as it was. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/toml/toml.h"
#include "config/toml/toml_edit.h"
#include "config/toml/toml_text.h"

enum { KEYS = 8 };

static bool is_empty(const struct toml *node)
{
	if (node && node->kind != TOML_table)
		return false;
	toml_for_each(it, node) {
		if (!is_empty(it))
			return false;
	}
	return true;
}

static void check_leaf(const struct toml *a, const struct toml *b)
{
	auto_buf struct buf left, right;
	buf_init(&left, LIMIT_LINE);
	buf_init(&right, LIMIT_LINE);
	toml_write_value(&left, a);
	toml_write_value(&right, b);
	fuzz_check(str_eq(buf_str(&left), buf_str(&right)));
}

/* Tables with nothing in them may come and go. */
static void check_same(const struct toml *a, const struct toml *b)
{
	if (is_empty(a) && is_empty(b))
		return;
	fuzz_check(a && b && a->kind == b->kind);
	if (a->kind != TOML_table) {
		check_leaf(a, b);
		return;
	}
	toml_for_each(it, a)
		check_same(it, toml_find(b, it->key));
	toml_for_each(it, b)
		check_same(toml_find(a, it->key), it);
}

/* The change on the tree. */
static void change_tree(struct arena *arena, struct toml *root, const struct str *path, size_t count,
                        const struct toml *value, bool is_merge)
{
	struct toml *table = root, *inner;
	for (size_t i = 0; i + 1 < count; i++, table = inner) {
		inner = toml_find(table, path[i]);
		if (!inner && !value)
			return;
		if (!inner)
			toml_add(arena, table, path[i], inner = toml_new(arena, TOML_table, "m", 1));
	}
	inner = toml_find(table, path[count - 1]);
	if (!(is_merge && toml_is(inner, TOML_table) && value->kind == TOML_table))
		toml_remove(table, path[count - 1]);
	if (!value)
		return;
	struct toml *around = toml_new(arena, TOML_table, "m", 1), *copy = arena_new(arena, struct toml);
	*copy = *value;
	toml_add(arena, around, path[count - 1], copy);
	toml_merge(arena, table, around);
}

static void check_change(struct str text, const struct str *path, size_t count, const struct toml *value, bool is_merge)
{
	auto_arena struct arena arena = {0};
	struct toml_edit edit;
	if (toml_edit_init(&edit, text, "f", NULL) == 0) {
		struct toml *model = toml_new(&arena, TOML_table, "m", 1);
		toml_merge(&arena, model, toml_parse(&arena, text, "f", NULL));
		int status = is_merge ? toml_edit_merge(&edit, path, count, value, NULL)
		             : value  ? toml_edit_set(&edit, path, count, value, NULL)
		                      : toml_edit_remove(&edit, path, count, NULL);
		fuzz_check(toml_parse(&arena, arena_str(&arena, buf_str(&edit.text)), "f", NULL));
		if (status == 0) {
			change_tree(&arena, model, path, count, value, is_merge);
			check_same(model, edit.root);
		}
	}
	toml_edit_finish(&edit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data, size}, keys, text, path[KEYS];
	auto_arena struct arena arena = {0};
	size_t count = 0;
	if (!str_next_line(&rest, &keys) || !str_next_line(&rest, &text))
		return 0;
	while (count < KEYS && str_next_part(&keys, '.', &path[count]))
		count++;
	const struct toml *value = text.len ? toml_parse_value(&arena, text, "v", NULL) : NULL;
	if (!count || (text.len && !value))
		return 0;
	check_change(rest, path, count, value, false);
	if (value)
		check_change(rest, path, count, value, true);
	return 0;
}
