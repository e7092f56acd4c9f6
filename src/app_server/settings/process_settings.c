/* A skill file that both a thread and a list use is watched twice; as changes are collected for a while, both
 * reports become one notification. */
#include "app_server/settings/process_settings.h"

#include <stdlib.h>

#include "app_server/rpc/server.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "skill/skill_watch.h"

/* The skills of one folder, watched because a list of them was sent to a client. */
struct hint {
	struct list link;
	char *cwd;
	struct skill_watch *watch;
};

struct process_settings *process_settings_create(struct app_server *server)
{
	struct process_settings *settings = xnew(struct process_settings);
	settings->server = server;
	list_init(&settings->watched);
	list_init(&settings->jobs);
	return settings;
}

static void drop_hint(struct process_settings *settings, struct hint *hint)
{
	list_remove(&hint->link);
	skill_watch_destroy(hint->watch);
	free(hint->cwd);
	free(hint);
	settings->watched_count--;
}

void settings_job_init(struct settings_job *job, struct app_server *server)
{
	job->server = server;
	list_append(&server->settings->jobs, &job->link);
}

void settings_job_finish(struct settings_job *job)
{
	list_remove(&job->link);
}

void process_settings_destroy(struct process_settings *settings)
{
	struct hint *it;
	struct settings_job *job;
	if (!settings)
		return;
	list_for_each(job, &settings->jobs, link) {
		job->server = NULL;
		list_remove(&job->link);
		if (job->on_end)
			job->on_end(job);
	}
	list_for_each(it, &settings->watched, link)
		drop_hint(settings, it);
	loop_timer_destroy(settings->timer);
	vec_for_each(option, &settings->switches)
		str_free(option);
	vec_finish(&settings->switches);
	free(settings);
}

/* ---- feature switches ---- */

void process_settings_switch(struct process_settings *settings, const char *feature, bool is_on)
{
	auto_free char *key = xasprintf("features.%s=", feature);
	char *option = xasprintf("%s%s", key, is_on ? "true" : "false");
	vec_for_each(it, &settings->switches) {
		if (!str_has_prefix(*it, key))
			continue;
		str_free(it);
		*it = str_of(option);
		return;
	}
	vec_push(&settings->switches, str_of(option));
}

/* ---- skills/changed ---- */

static void on_held(void *self)
{
	struct process_settings *settings = self;
	app_server_notify(settings->server, NOTIFY_skills_changed, &(struct app_skills_changed_notification){0});
}

static void on_change(void *self)
{
	process_settings_skills_changed(self);
}

void process_settings_watch_skills(struct process_settings *settings, const struct skill_places *places,
                                   const struct skills_list_entry *entry)
{
	struct hint *it;
	list_for_each(it, &settings->watched, link) {
		if (str_is(entry->cwd, it->cwd))
			drop_hint(settings, it);
	}
	if (settings->watched_count >= LIMIT_SKILL_HINTS)
		drop_hint(settings, list_first(&settings->watched, struct hint, link));
	struct hint *hint = xnew(struct hint);
	hint->cwd = str_dup(entry->cwd);
	hint->watch = skill_watch_create(settings->server->loop, places, entry, on_change, settings);
	list_append(&settings->watched, &hint->link);
	settings->watched_count++;
}

void process_settings_skills_changed(struct process_settings *settings)
{
	if (!settings->timer)
		settings->timer = loop_timer_create(settings->server->loop, on_held, settings);
	if (!loop_timer_is_active(settings->timer))
		loop_timer_start(settings->timer, LIMIT_SKILL_HOLD_MS);
}
