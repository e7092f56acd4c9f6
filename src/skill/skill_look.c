/* A look that nobody waits for any more goes on to its end and is thrown away: it is bounded. */
#include "skill/skill_look.h"

#include <stdlib.h>

#include "base/mem.h"
#include "loop/worker.h"
#include "skill/skill_scan.h"

struct skill_look {
	struct arena arena;
	struct skill_places *places;
	const struct str *cwds;
	struct skills_list_entry *entries;
	size_t count;
	skill_look_done_fn on_done; /* NULL: cancelled */
	void *self;
};

static void run(void *self)
{
	struct skill_look *look = self;
	for (size_t i = 0; i < look->count; i++)
		look->entries[i] = skill_scan(look->places, look->cwds[i], &look->arena);
}

static void on_ran(void *self)
{
	struct skill_look *look = self;
	if (look->on_done)
		look->on_done(look->entries, look->count, look->self);
	skill_places_destroy(look->places);
	arena_finish(&look->arena);
	free(look);
}

struct skill_look *skill_look_start(struct loop *loop, const struct skill_places *places, const struct str *cwds,
                                    size_t count, skill_look_done_fn on_done, void *self)
{
	struct skill_look *look = xnew(struct skill_look);
	struct str *copy = arena_array(&look->arena, struct str, count + 1);
	for (size_t i = 0; i < count; i++)
		copy[i] = arena_str(&look->arena, cwds[i]);
	look->places = skill_places_copy(places);
	look->cwds = copy;
	look->entries = arena_array(&look->arena, struct skills_list_entry, count + 1);
	look->count = count;
	look->on_done = on_done;
	look->self = self;
	worker_run(loop, run, on_ran, look);
	return look;
}

void skill_look_cancel(struct skill_look *look)
{
	if (look)
		look->on_done = NULL;
}
