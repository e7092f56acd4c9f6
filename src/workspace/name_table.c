/* A hash table with open addressing, half full at most. */
#include "workspace/name_table.h"

#include <stdlib.h>

#include "base/host.h"
#include "base/mem.h"
#include "workspace/fuzzy.h"
#include "workspace/workspace_limits.h"

enum { SLOTS_LEAST = 1024 };

void name_table_init(struct name_table *table)
{
	*table = (struct name_table){0};
	host_random(&table->key, sizeof(table->key));
	buf_init(&table->texts, LIMIT_SEARCH_BYTES);
}

void name_table_finish(struct name_table *table)
{
	buf_finish(&table->texts);
	vec_finish(&table->names);
	vec_finish(&table->letters);
	free(steal(table->slots));
	table->slot_count = 0;
}

uint64_t name_table_hash(const struct name_table *table, struct str name)
{
	return str_hash_keyed(name, table->key);
}

/* Returns the slot of a name, or the empty one in which it belongs. */
static uint32_t *find_slot(const struct name_table *table, struct str name, uint64_t hash)
{
	for (size_t at = hash;; at++) {
		uint32_t *slot = &table->slots[at & (table->slot_count - 1)];
		if (!*slot || str_eq(name_table_get(table, *slot - 1), name))
			return slot;
	}
}

static void grow(struct name_table *table)
{
	free(table->slots);
	table->slot_count = table->slot_count ? table->slot_count * 2 : SLOTS_LEAST;
	table->slots = xcalloc(table->slot_count, sizeof(*table->slots));
	for (size_t i = 0; i < table->names.count; i++) {
		struct str name = name_table_get(table, i);
		*find_slot(table, name, name_table_hash(table, name)) = (uint32_t)i + 1;
	}
}

uint32_t name_table_add(struct name_table *table, struct str name, uint64_t hash)
{
	if (table->names.count * 2 >= table->slot_count)
		grow(table);
	uint32_t *slot = find_slot(table, name, hash);
	if (*slot)
		return *slot - 1;
	struct name added = {name_table_put(table, name, STR(""), STR("")), (uint32_t)name.len};
	if (table->texts.over)
		added.len = 0;
	vec_push(&table->names, added);
	vec_push(&table->letters, fuzzy_letters(name));
	return (*slot = (uint32_t)table->names.count) - 1;
}

uint32_t name_table_put(struct name_table *table, struct str a, struct str b, struct str c)
{
	size_t at = table->texts.len;
	if (!buf_reserve(&table->texts, a.len + b.len + c.len))
		return 0;
	buf_append_str(&table->texts, a);
	buf_append_str(&table->texts, b);
	buf_append_str(&table->texts, c);
	return (uint32_t)at;
}

size_t name_table_bytes(const struct name_table *table)
{
	return table->texts.cap + table->names.cap * sizeof(*table->names.items) +
	       table->letters.cap * sizeof(*table->letters.items) + table->slot_count * sizeof(*table->slots);
}
