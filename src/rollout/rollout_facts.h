/* rollout_facts.h — data of each file of a listing that filters and orders need, kept while the files do not change.
 *
 * The listing reports each change of a file (rollout_facts_forget); until then the facts hold.
 *
 * Owns: its texts; pointers to facts are valid as long as the table. Thread: any, concurrently. */
#ifndef ROLLOUT_ROLLOUT_FACTS_H
#define ROLLOUT_ROLLOUT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "protocol/record/enum.h"

struct rollout_summary;

struct rollout_facts {
	struct str cwd, originator, model_provider;
	struct str subagent; /* as in struct rollout_meta */
	struct str preview;  /* as in struct rollout_summary */
	enum session_source source;
	bool is_subagent;
};

/* The facts of a summary; texts are those of the summary. */
struct rollout_facts rollout_facts_of(const struct rollout_summary *summary);

struct rollout_facts_table;
struct rollout_facts_table *rollout_facts_create(size_t count);
void rollout_facts_destroy(struct rollout_facts_table *table); /* NULL is a no-op */

/* The facts of file `at`; NULL: unknown. */
const struct rollout_facts *rollout_facts_find(struct rollout_facts_table *table, size_t at);
/* Stores facts that were read after `version` was returned by rollout_facts_version; a change since then discards
 * them. Facts of a link or of a file with several names are not kept, because their changes go unnoticed. */
uint32_t rollout_facts_version(struct rollout_facts_table *table, size_t at, const char *path);
void rollout_facts_learn(struct rollout_facts_table *table, size_t at, uint32_t version,
                         const struct rollout_facts *facts);
/* The file has changed. */
void rollout_facts_forget(struct rollout_facts_table *table, size_t at);

/* Returns the time of the last change (Unix ms), 0 if the file does not exist. Reads it from the file unless known.
 * *ret_is_kept (may be NULL): the time is known from now on; not that of a link or of a file with several names. */
int64_t rollout_facts_changed(struct rollout_facts_table *table, size_t at, const char *path, bool *ret_is_kept);

/* True if the texts of forgotten facts outweigh the others, so that the table should be replaced. */
bool rollout_facts_is_worn(struct rollout_facts_table *table);

#endif
