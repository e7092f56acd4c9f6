/* A file that a thread and a list both know is watched twice and told of once: what comes within the hold is one
 * hint. */
#include "app_server/settings/skill_hints.h"

#include <stdlib.h>

#include "app_server/app_server_priv.h"
#include "base/limits.h"
#include "base/mem.h"
#include "skill/skill_watch.h"

struct hint {
	struct list link;
	char *cwd;
	struct skill_watch *watch;
};

struct skill_hints {
	struct app_server *server;
	struct loop_timer *timer;
	struct list watched; /* the last asked for at the end */
	size_t count;
};

static void on_held(void *self)
{
	struct skill_hints *hints = self;
	app_server_notify(hints->server, NOTIFY_skills_changed, &(struct app_skills_changed_notification){0});
}

static struct skill_hints *get(struct app_server *server)
{
	if (server->skill_hints)
		return server->skill_hints;
	struct skill_hints *hints = server->skill_hints = xnew(struct skill_hints);
	hints->server = server;
	hints->timer = loop_timer_create(server->options.loop, on_held, hints);
	list_init(&hints->watched);
	return hints;
}

static void on_change(void *self)
{
	skill_hints_change(self);
}

static void drop(struct skill_hints *hints, struct hint *hint)
{
	list_remove(&hint->link);
	skill_watch_destroy(hint->watch);
	free(hint->cwd);
	free(hint);
	hints->count--;
}

void skill_hints_watch(struct app_server *server, const struct skill_places *places,
                       const struct skills_list_entry *entry)
{
	struct skill_hints *hints = get(server);
	struct hint *it;
	list_for_each(it, &hints->watched, link) {
		if (str_is(entry->cwd, it->cwd))
			drop(hints, it);
	}
	if (hints->count >= LIMIT_SKILL_HINTS)
		drop(hints, list_first(&hints->watched, struct hint, link));
	struct hint *hint = xnew(struct hint);
	hint->cwd = str_dup(entry->cwd);
	hint->watch = skill_watch_create(server->options.loop, places, entry, on_change, server);
	list_append(&hints->watched, &hint->link);
	hints->count++;
}

void skill_hints_change(struct app_server *server)
{
	struct skill_hints *hints = get(server);
	if (!loop_timer_is_active(hints->timer))
		loop_timer_start(hints->timer, LIMIT_SKILL_HOLD_MS);
}

void skill_hints_destroy(struct skill_hints *hints)
{
	struct hint *it;
	if (!hints)
		return;
	list_for_each(it, &hints->watched, link)
		drop(hints, it);
	loop_timer_destroy(hints->timer);
	free(hints);
}
