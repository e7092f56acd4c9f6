/* hook_table.h — the events of hooks, and the reader of a [hooks] table or of hooks.json, which have the same form.
 *
 * A definition is read once: what is hashed and what runs are the same bytes in memory, even if the file changes
 * meanwhile. Texts are allocated in the list's arena. Loop thread only. */
#ifndef CONFIG_HOOK_TABLE_H
#define CONFIG_HOOK_TABLE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "config/config_narrow.h"
#include "protocol/record/enum.h"

struct toml;

enum hook_flags {
	HOOK_BLOCKS = 1,
	HOOK_TEXT = 2,
	HOOK_CONTEXT = 4,
	HOOK_STOPS = 8,
	HOOK_ASKS = 16,
	HOOK_THREAD = 32,
	HOOK_BRIEF = 64
};

struct hook_event_type {
	const char *name;    /* for example "PreToolUse" */
	const char *matched; /* the member of the input that matchers are compared with, or NULL */
	unsigned flags;
	const char *doc;
};

extern const struct hook_event_type hook_events[hook_event_count];

/* Finds an event by its name in configuration files, or its word on the wire. */
bool hook_event_find(struct str name, enum hook_event *ret);

enum { HOOK_TIMEOUT_S = 600, HOOK_TIMEOUT_BRIEF_S = 1 }; /* the time limit of a hook that sets none */

struct hook {
	enum hook_event event;
	const char *matcher; /* NULL: every occurrence of the event */
	const char *command; /* for the shell */
	int64_t timeout_s;
	bool is_async;
	const char *status_message; /* or NULL */
	const char *path;           /* the file that defines it */
	const char *key;            /* its name in [hooks.state] */
	char hash[CONFIG_HASH_SIZE];
	enum hook_source source;
	enum app_hook_trust_status trust;
	bool is_enabled; /* not switched off by the user or the administrator */
	bool is_usable;  /* it runs */
	int64_t order;
};

struct hook_list {
	VEC(struct hook) hooks; /* in the order in which they run */
	VEC(const char *) warnings;
	struct arena arena;
};

void hook_list_warn(struct hook_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds the hooks of a table of this file. A handler that cannot be used is a warning. An error ends the table. */
must_check int hook_list_read(struct hook_list *list, const struct toml *table, const char *path,
                              enum hook_source source, struct error *err);

/* Checks the form of a table without using it. is_strict: unknown events and unsupported handlers are errors, too.
 * table may be NULL. */
must_check int hook_table_check(const struct toml *table, bool is_strict, struct error *err);

#endif
