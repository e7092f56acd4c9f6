/* The values that scripts have stored. A script merges those that it has written when it ends. */
#include "tool/code/code_cells_priv.h"

#include "base/json.h"
#include "tool/code/code_limits.h"

static struct code_value *find_value(struct code_cells *cells, struct str key)
{
	vec_for_each(it, &cells->store) {
		if (str_eq(it->key, key))
			return it;
	}
	return NULL;
}

static struct code_value *add_value(struct code_cells *cells, struct str key)
{
	vec_push(&cells->store, (struct code_value){.key = str_copy(key)});
	cells->store_bytes += key.len;
	return &cells->store.items[cells->store.count - 1];
}

/* True if the value fits in place of the one that it replaces, which may be NULL. */
static bool has_room(const struct code_cells *cells, const struct code_value *value, const struct json *it)
{
	size_t kept = cells->store_bytes - (value ? value->json.len : 0);
	size_t size = it->text.len + (value ? 0 : it->key.len);
	return size <= LIMIT_CODE_STORE - kept && (value || cells->store.count < LIMIT_CODE_KEYS);
}

void code_store_merge(struct code_cells *cells, const struct json *values)
{
	json_for_each(it, values) {
		struct code_value *value = find_value(cells, it->key);
		if (it->type != JSON_string || !has_room(cells, value, it))
			continue;
		value = value ? value : add_value(cells, it->key);
		cells->store_bytes += it->text.len;
		cells->store_bytes -= value->json.len;
		str_free(&value->json);
		value->json = str_copy(it->text);
	}
}

void code_store_finish(struct code_cells *cells)
{
	vec_for_each(it, &cells->store) {
		str_free(&it->key);
		str_free(&it->json);
	}
	vec_finish(&cells->store);
}
