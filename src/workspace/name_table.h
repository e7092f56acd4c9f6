/* name_table.h — texts that are stored once each and have numbers from 0 on, with the set of their letters.
 *
 * Owns: the texts, which move when one is added, at most LIMIT_SEARCH_BYTES. No function fails. */
#ifndef WORKSPACE_NAME_TABLE_H
#define WORKSPACE_NAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

struct name {
	uint32_t at; /* in texts */
	uint32_t len;
};

struct name_table {
	uint64_t key; /* of the hash: file names can be crafted */
	struct buf texts;
	VEC(struct name) names;
	VEC(uint64_t) letters; /* see fuzzy_letters */
	uint32_t *slots;       /* number + 1; 0: empty */
	size_t slot_count;
};

void name_table_init(struct name_table *table);
void name_table_finish(struct name_table *table);

uint64_t name_table_hash(const struct name_table *table, struct str name);
/* Returns the number of a name, which is added if it is new. */
uint32_t name_table_add(struct name_table *table, struct str name, uint64_t hash);
/* Adds bytes that have no number; returns where they are in texts. The table is full when texts.over. */
uint32_t name_table_put(struct name_table *table, struct str a, struct str b, struct str c);
size_t name_table_bytes(const struct name_table *table);

static inline struct str name_table_get(const struct name_table *table, size_t number)
{
	return str_n(table->texts.data + table->names.items[number].at, table->names.items[number].len);
}

#endif
