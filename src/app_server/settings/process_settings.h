/* process_settings.h — feature switches that clients set until the process ends. Also watches skill folders and
 * sends skills/changed.
 *
 * It watches the folders of the last LIMIT_SKILL_HINTS skills/list requests; threads report changes in their own.
 * Changes within LIMIT_SKILL_HOLD_MS are reported in one notification. Loop thread only. */
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

/* Work for a client that may disconnect before it is done; embedded. */
struct settings_job {
	struct list link;
	struct app_server *server; /* NULL after the server has ended */
	/* Called when the server ends, if set; the job may be freed inside it. */
	void (*on_end)(struct settings_job *job);
};

struct process_settings {
	/* read-only */
	VEC(struct str) switches; /* texts "features.NAME=true", owned */
	/* private */
	struct app_server *server;
	struct list jobs;         /* struct settings_job */
	struct loop_timer *timer; /* runs while changes of skills are collected; NULL before the first change */
	struct list watched;      /* struct hint; the last requested one is at the end */
	size_t watched_count;
};

struct process_settings *process_settings_create(struct app_server *server);
void process_settings_destroy(struct process_settings *settings); /* NULL is fine */

void settings_job_init(struct settings_job *job, struct app_server *server);
void settings_job_finish(struct settings_job *job);

/* Replaces an earlier switch of the same feature. Threads that are loaded keep their configuration. */
void process_settings_switch(struct process_settings *settings, const char *feature, bool is_on);

/* To be called when a client was sent this list: watches the folders that it came from. */
void process_settings_watch_skills(struct process_settings *settings, const struct skill_places *places,
                                   const struct skills_list_entry *entry);
/* To be called when a list of skills may have changed: sends skills/changed within LIMIT_SKILL_HOLD_MS. */
void process_settings_skills_changed(struct process_settings *settings);

#endif
