/* Facts are published once and never changed, so that readers need no lock. Facts of a changed file
 * are forgotten but not freed: the table is replaced when it is worn. A version of each file keeps facts out that were
 * read before a change and arrive after it. */
#include "rollout/rollout_facts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/mem.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_summary.h"

enum { UNKNOWN_MS = -1 };

struct known {
	_Atomic(const struct rollout_facts *) facts; /* NULL: unknown; written with the lock, read without */
	int64_t changed_ms;                          /* UNKNOWN_MS, or of the last change */
	uint32_t version;                            /* counts the changes */
};

struct rollout_facts_table {
	pthread_mutex_t lock;
	struct arena arena;
	struct rollout_facts last; /* most texts are equal to those of the file before */
	size_t count, learned;
	struct known files[];
};

struct rollout_facts rollout_facts_of(const struct rollout_summary *summary)
{
	const struct rollout_meta *meta = &summary->meta;
	return (struct rollout_facts){
		.cwd = meta->cwd,
		.originator = meta->originator,
		.model_provider = meta->model_provider,
		.subagent = meta->subagent,
		.preview = summary->preview,
		.source = meta->source,
		.is_subagent = meta->is_subagent,
	};
}

struct rollout_facts_table *rollout_facts_create(size_t count)
{
	struct rollout_facts_table *table = xcalloc(1, sizeof(*table) + count * sizeof(table->files[0]));
	pthread_mutex_init(&table->lock, NULL);
	table->count = count;
	for (size_t i = 0; i < count; i++)
		table->files[i].changed_ms = UNKNOWN_MS;
	return table;
}

void rollout_facts_destroy(struct rollout_facts_table *table)
{
	if (!table)
		return;
	pthread_mutex_destroy(&table->lock);
	arena_finish(&table->arena);
	free(table);
}

const struct rollout_facts *rollout_facts_find(struct rollout_facts_table *table, size_t at)
{
	return atomic_load_explicit(&table->files[at].facts, memory_order_acquire);
}

static struct str keep(struct arena *arena, struct str text, struct str last)
{
	return text.ptr && str_eq(text, last) ? last : arena_str(arena, text);
}

/* The caller holds the lock. */
static const struct rollout_facts *keep_facts(struct rollout_facts_table *table, const struct rollout_facts *facts)
{
	struct rollout_facts *kept = arena_new(&table->arena, struct rollout_facts);
	*kept = *facts;
	kept->cwd = keep(&table->arena, facts->cwd, table->last.cwd);
	kept->originator = keep(&table->arena, facts->originator, table->last.originator);
	kept->model_provider = keep(&table->arena, facts->model_provider, table->last.model_provider);
	kept->subagent = keep(&table->arena, facts->subagent, table->last.subagent);
	kept->preview = arena_str(&table->arena, facts->preview);
	table->last = *kept;
	table->learned++;
	return kept;
}

void rollout_facts_learn(struct rollout_facts_table *table, size_t at, uint32_t version,
                         const struct rollout_facts *facts)
{
	if (facts->preview.len > LIMIT_ROLLOUT_FACTS_PREVIEW)
		return;
	pthread_mutex_lock(&table->lock);
	struct known *known = &table->files[at];
	if (known->version == version && !known->facts && known->changed_ms != UNKNOWN_MS)
		atomic_store_explicit(&known->facts, keep_facts(table, facts), memory_order_release);
	pthread_mutex_unlock(&table->lock);
}

void rollout_facts_forget(struct rollout_facts_table *table, size_t at)
{
	pthread_mutex_lock(&table->lock);
	struct known *known = &table->files[at];
	atomic_store_explicit(&known->facts, NULL, memory_order_relaxed);
	known->changed_ms = UNKNOWN_MS;
	known->version++;
	pthread_mutex_unlock(&table->lock);
}

/* Reads the time; false if later writes to the file would go unnoticed: those through another name. */
static bool read_changed(const char *path, int64_t *ret)
{
	struct stat st;
	bool exists = lstat(path, &st) == 0;
	bool is_noticed = exists && S_ISREG(st.st_mode) && st.st_nlink == 1;
	if (exists && !is_noticed)
		exists = stat(path, &st) == 0;
	*ret = exists ? (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 : 0;
	return is_noticed;
}

int64_t rollout_facts_changed(struct rollout_facts_table *table, size_t at, const char *path, bool *ret_is_kept)
{
	struct known *known = &table->files[at];
	pthread_mutex_lock(&table->lock);
	int64_t changed_ms = known->changed_ms;
	uint32_t version = known->version;
	pthread_mutex_unlock(&table->lock);
	bool is_kept = changed_ms != UNKNOWN_MS;
	if (!is_kept && read_changed(path, &changed_ms)) {
		pthread_mutex_lock(&table->lock);
		is_kept = known->version == version;
		if (is_kept)
			known->changed_ms = changed_ms;
		pthread_mutex_unlock(&table->lock);
	}
	if (ret_is_kept)
		*ret_is_kept = is_kept;
	return changed_ms;
}

uint32_t rollout_facts_version(struct rollout_facts_table *table, size_t at, const char *path)
{
	rollout_facts_changed(table, at, path, NULL);
	pthread_mutex_lock(&table->lock);
	uint32_t version = table->files[at].version;
	pthread_mutex_unlock(&table->lock);
	return version;
}

bool rollout_facts_is_worn(struct rollout_facts_table *table)
{
	pthread_mutex_lock(&table->lock);
	bool is_worn = table->learned > 2 * table->count + 1000;
	pthread_mutex_unlock(&table->lock);
	return is_worn;
}
