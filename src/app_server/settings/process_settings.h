/* process_settings.h — what clients have set for the life of this process: feature switches.
 * It also watches skill folders and sends skills/changed.
 *
 * Watched are the folders of the last LIMIT_SKILL_HINTS skills/list requests; threads report changes in theirs. Changes
 * within LIMIT_SKILL_HOLD_MS are one notification. Loop thread only. */
#ifndef APP_SERVER_PROCESS_SETTINGS_H
#define APP_SERVER_PROCESS_SETTINGS_H

#include "base/list.h"
#include "base/str.h"
#include "base/vec.h"

struct app_server;
struct loop_timer;
struct process_settings;
struct skill_places;
struct skills_list_entry;

/* Work for a client that may leave before it is done; embedded. */
struct settings_job {
	struct list link;
	struct app_server *server; /* NULL once the server has ended */
};

struct process_settings {
	/* read-only */
	VEC(struct str) switches; /* "features.NAME=true"; owned */
	/* private */
	struct app_server *server;
	struct list jobs;         /* struct settings_job */
	struct loop_timer *timer; /* runs while changes of skills are gathered; NULL before the first */
	struct list watched;      /* struct hint, the last requested at the end */
	size_t watched_count;
};

struct process_settings *process_settings_create(struct app_server *server);
void process_settings_destroy(struct process_settings *settings); /* NULL is fine */

void settings_job_init(struct settings_job *job, struct app_server *server);
void settings_job_finish(struct settings_job *job);

/* Replaces an earlier switch of the same feature. Threads that run keep their configuration. */
void process_settings_switch(struct process_settings *settings, const char *feature, bool is_on);

/* A client has been sent this list: watches the folders that it came from. */
void process_settings_watch_skills(struct process_settings *settings, const struct skill_places *places,
                                   const struct skills_list_entry *entry);
/* A list of skills may have changed: skills/changed follows within LIMIT_SKILL_HOLD_MS. */
void process_settings_skills_changed(struct process_settings *settings);

#endif
