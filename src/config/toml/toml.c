/* The tree. Siblings form a linked list, which keeps their order and is cheap for small tables; larger tables get an
 * open-addressed index, so that a hostile file cannot cause quadratic look-ups. */
#include "config/toml/toml.h"

#include "config/toml/toml_priv.h"

enum { INDEX_FROM = 16 };

struct toml_index {
	size_t mask;
	size_t used;
	struct toml *slots[];
};

static const char *const kind_names[TOML_kind_count] = {
	[TOML_table] = "a table",
	[TOML_array] = "an array",
	[TOML_string] = "a string",
	[TOML_integer] = "an integer",
	[TOML_float] = "a float",
	[TOML_bool] = "a boolean",
	[TOML_datetime] = "a date and time",
	[TOML_datetime_local] = "a local date and time",
	[TOML_date_local] = "a date",
	[TOML_time_local] = "a time",
};

const char *toml_kind_name(enum toml_kind kind)
{
	return kind < TOML_kind_count ? kind_names[kind] : "nothing known";
}

struct toml *toml_new(struct arena *arena, enum toml_kind kind, const char *source, unsigned line)
{
	struct toml *node = arena_new(arena, struct toml);
	node->kind = kind;
	node->source = source;
	node->line = line;
	return node;
}

static void index_put(struct toml_index *index, struct toml *node)
{
	size_t at = node->hash & index->mask;
	while (index->slots[at])
		at = (at + 1) & index->mask;
	index->slots[at] = node;
	index->used++;
}

static void index_build(struct arena *arena, struct toml *table)
{
	size_t slots = INDEX_FROM * 4;
	while (slots < table->count * 4)
		slots *= 2;
	struct toml_index *index = arena_alloc(arena, sizeof(*index) + slots * sizeof(index->slots[0]));
	index->mask = slots - 1;
	for (struct toml *it = table->child; it; it = it->next)
		index_put(index, it);
	table->index = index;
}

static void index_add(struct arena *arena, struct toml *table, struct toml *node)
{
	if (table->index && table->index->used * 2 <= table->index->mask)
		index_put(table->index, node);
	else if (table->count >= INDEX_FROM)
		index_build(arena, table);
}

static uint32_t key_hash(struct str key)
{
	uint64_t hash = str_hash(key);
	return (uint32_t)(hash ^ hash >> 32);
}

static bool node_is(const struct toml *node, uint32_t hash, struct str key)
{
	return node->hash == hash && str_eq(node->key, key);
}

struct toml *toml_find(const struct toml *table, struct str key)
{
	if (!toml_is(table, TOML_table))
		return NULL;
	uint32_t hash = key_hash(key);
	if (!table->index) {
		struct toml *it = table->child;
		while (it && !node_is(it, hash, key))
			it = it->next;
		return it;
	}
	size_t at = hash & table->index->mask;
	while (table->index->slots[at] && !node_is(table->index->slots[at], hash, key))
		at = (at + 1) & table->index->mask;
	return table->index->slots[at];
}

struct toml *toml_get(const struct toml *table, const char *key)
{
	return toml_find(table, str_of(key));
}

void toml_append(struct toml *array, struct toml *node)
{
	node->depth = array->depth + 1;
	node->next = NULL;
	if (array->last)
		array->last->next = node;
	else
		array->child = node;
	array->last = node;
	array->count++;
}

void toml_add(struct arena *arena, struct toml *table, struct str key, struct toml *node)
{
	toml_append(table, node);
	node->key = key;
	node->hash = key_hash(key);
	index_add(arena, table, node);
}

struct toml *toml_remove(struct toml *table, struct str key)
{
	struct toml *found = toml_find(table, key);
	if (!found)
		return NULL;
	struct toml *before = NULL;
	for (struct toml *it = table->child; it != found; it = it->next)
		before = it;
	if (before)
		before->next = found->next;
	else
		table->child = found->next;
	if (table->last == found)
		table->last = before;
	table->count--;
	table->index = NULL; /* The index is rebuilt when the table grows; until then the list is searched. */
	found->next = NULL;
	return found;
}

static void set_from(struct arena *arena, struct toml *slot, const struct toml *from);

void toml_merge(struct arena *arena, struct toml *into, const struct toml *from)
{
	toml_for_each(it, from) {
		struct toml *slot = toml_find(into, it->key);
		if (toml_is(slot, TOML_table) && it->kind == TOML_table && !it->is_whole) {
			toml_merge(arena, slot, it);
			continue;
		}
		if (!slot) {
			slot = arena_new(arena, struct toml);
			toml_add(arena, into, it->key, slot);
		}
		set_from(arena, slot, it);
	}
}

/* Copies the value of `from` into slot, which keeps its place in its table. */
static void set_from(struct arena *arena, struct toml *slot, const struct toml *from)
{
	struct toml value = *from;
	value.key = slot->key;
	value.hash = slot->hash;
	value.next = slot->next;
	value.depth = slot->depth;
	if (value.kind == TOML_table) {
		value.child = value.last = NULL;
		value.index = NULL;
		value.count = 0;
	}
	*slot = value;
	if (slot->kind == TOML_table)
		toml_merge(arena, slot, from);
}
