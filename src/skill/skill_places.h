/* skill_places.h — where skills are looked for, and which of them the user has switched off: what the configuration
 * says, copied so that a worker can read it.
 *
 * Owns: copies of all it says. Made on the loop, then read by any thread. Source: core 7. */
#ifndef SKILL_SKILL_PLACES_H
#define SKILL_SKILL_PLACES_H

#include "base/arena.h"
#include "protocol/record/enum.h"

struct config;

struct skill_rule {
	const char *path; /* a SKILL.md or its folder, links resolved; NULL: by name */
	struct str name;
	bool enabled;
};

struct skill_root {
	const char *path; /* links resolved */
	enum skill_scope scope;
};

struct skill_places {
	/* read-only */
	const char *home;           /* CODEX_HOME */
	const char *user_home;      /* or NULL */
	const char *const *markers; /* what makes a folder the root of a project */
	size_t marker_count;
	const char *const *extra_roots;
	size_t extra_root_count;
	const struct skill_rule *rules; /* of several that fit, the last counts */
	size_t rule_count;
	/* private */
	struct arena arena;
};

/* more: roots beside the configured ones. */
struct skill_places *skill_places_create(const struct config *config, const struct str *more, size_t more_count);
struct skill_places *skill_places_copy(const struct skill_places *places);
void skill_places_destroy(struct skill_places *places); /* NULL is fine */

/* The folders that are there, the strongest first, for somebody who works in cwd (any text: what is no absolute path
 * has no project). Blocks: the file system is asked. */
size_t skill_places_roots(const struct skill_places *places, struct str cwd, struct arena *arena,
                          struct skill_root **ret);
/* Whether the rules let a skill be used. */
bool skill_places_allow(const struct skill_places *places, struct str path, struct str name);

#endif
