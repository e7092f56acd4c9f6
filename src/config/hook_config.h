/* hook_config.h — the hooks of a configuration: commands that the user, a project or the administrator runs on events.
 *
 * They come from [hooks] of each layer, from hooks.json in the folder of each layer, and from requirements.toml. A hook
 * runs only if it is usable: the administrator's always are; others need a trusted hash in [hooks.state] of a layer
 * that no project can write. The hash covers the definition that was read, which is the one that runs.
 * Owns: all strings. Loop thread only. */
#ifndef CONFIG_HOOK_CONFIG_H
#define CONFIG_HOOK_CONFIG_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "protocol/record/enum.h"

struct config;
struct config_layers;
struct toml;

enum hook_flags { HOOK_BLOCKS = 1, HOOK_TEXT = 2, HOOK_CONTEXT = 4, HOOK_STOPS = 8, HOOK_ASKS = 16, HOOK_THREAD = 32 };

struct hook_event_type {
	const char *name;    /* for example "PreToolUse" */
	const char *matched; /* the member of the input that matchers are compared with, or NULL */
	unsigned flags;
	const char *doc;
};

extern const struct hook_event_type hook_events[hook_event_count];

/* Finds an event by its name in configuration files, or its word on the wire. */
bool hook_event_find(struct str name, enum hook_event *ret);

enum { HOOK_TIMEOUT_S = 600 }; /* the time limit of a hook that sets none */
enum { HOOK_HASH_SIZE = 72 };  /* "sha256:" and 64 digits */

struct hook {
	enum hook_event event;
	const char *matcher; /* NULL: every occurrence of the event */
	const char *command; /* for the shell */
	int64_t timeout_s;
	bool is_async;
	const char *status_message; /* or NULL */
	const char *path;           /* the file that defines it */
	const char *key;            /* its name in [hooks.state] */
	char hash[HOOK_HASH_SIZE];
	enum hook_source source;
	enum app_hook_trust_status trust;
	bool is_enabled; /* not switched off by the user or the administrator */
	bool is_usable;  /* it runs */
	int64_t order;
};

struct hook_problem {
	const char *path, *message;
};

struct hook_config {
	VEC(struct hook) hooks; /* in the order in which they run */
	VEC(const char *) warnings;
	VEC(struct hook_problem) errors; /* files that cannot be read */
	struct arena arena;
};

/* Reads the hooks of a configuration. Never fails: files and hooks that cannot be used are reported in warnings and
 * errors. */
void hook_config_init(struct hook_config *hooks, const struct config *config);
void hook_config_finish(struct hook_config *hooks);

/* Checks the form of a [hooks] table without using it. is_strict: unknown events and unsupported handlers are errors,
 * too. table may be NULL. */
must_check int hook_config_check(const struct toml *table, bool is_strict, struct error *err);

#endif
