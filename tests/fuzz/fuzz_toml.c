/* A parsed document is consistent and survives being merged; an error names its location. The same
 * bytes are also tried as a lone value and as a key. */
#include "fuzz.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "config/config_record.h"
#include "config/toml/toml.h"

static void check_node(const struct toml *node, unsigned lines)
{
	fuzz_check(node->kind < TOML_kind_count);
	fuzz_check(node->line >= 1 && node->line <= lines);
	if (node->kind == TOML_string)
		fuzz_check(text_is_utf8(node->text));
	if (node->kind != TOML_table && node->kind != TOML_array)
		return;
	size_t count = 0;
	toml_for_each(it, node) {
		if (node->kind == TOML_table)
			fuzz_check(text_is_utf8(it->key) && toml_find(node, it->key) == it);
		check_node(it, lines);
		count++;
	}
	fuzz_check(count == node->count);
}

static void check_same(const struct toml *a, const struct toml *b)
{
	fuzz_check(a && b && a->kind == b->kind && a->line == b->line);
	if (a->kind == TOML_table) {
		fuzz_check(a->count == b->count);
		toml_for_each(it, a)
			check_same(it, toml_find(b, it->key));
	}
}

static unsigned line_count(struct str text)
{
	unsigned lines = 1;
	for (size_t i = 0; i < text.len; i++)
		lines += text.ptr[i] == '\n';
	return lines;
}

/* As config.toml: taken, or refused with the place. */
static void check_settings(struct arena *arena, const struct toml *root)
{
	struct error err = {0};
	struct config config;
	struct config_binder binder = {.arena = arena, .home = "/home", .cwd = "/"};
	int status = config_bind(&binder, &config_keys, root, "", &config, &err);
	fuzz_check(status == 0 || (err.code == ERR_config && str_has_prefix(str_of(err.text), "f: `")));
	fuzz_check(binder.unknown.count <= LIMIT_CONFIG_UNKNOWN);
	vec_finish(&binder.unknown);
}

static void check_document(struct arena *arena, struct str text)
{
	struct error err = {0};
	const struct toml *root = toml_parse(arena, text, "f", &err);
	if (!root) {
		fuzz_check(err.code == ERR_config && str_has_prefix(str_of(err.text), "f:"));
		return;
	}
	check_node(root, line_count(text));
	struct toml *merged = toml_new(arena, TOML_table, "g", 1);
	toml_merge(arena, merged, root);
	toml_merge(arena, merged, root);
	check_node(merged, line_count(text));
	merged->line = root->line;
	check_same(root, merged);
	check_settings(arena, merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	auto_arena struct arena arena = {0};
	check_document(&arena, text);
	struct toml *value = toml_parse_value(&arena, text, "f", NULL);
	if (value)
		check_node(value, line_count(text));
	struct toml *one = toml_new(&arena, TOML_bool, "f", 1);
	const struct toml *root = toml_parse_key(&arena, text, one, NULL);
	if (root)
		check_node(root, 1);
	return 0;
}
