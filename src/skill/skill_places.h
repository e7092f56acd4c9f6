/* skill_places.h — the folders that may contain skills, and the user's rules for them: a copy of the configuration that
 * a worker can read.
 *
 * Owns: copies of all data. Created on the loop, then read-only on any thread. */
#ifndef SKILL_SKILL_PLACES_H
#define SKILL_SKILL_PLACES_H

#include "base/arena.h"
#include "protocol/record/enum.h"

struct config;

struct skill_rule {
	const char *path; /* a SKILL.md or its folder, links resolved; NULL: the rule names the skill */
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
	const char *user_home;      /* may be NULL */
	const char *const *markers; /* names that mark the root of a project */
	size_t marker_count;
	const char *const *extra_roots;
	size_t extra_root_count;
	const struct skill_rule *rules; /* the last rule that matches wins */
	size_t rule_count;
	/* private */
	struct arena arena;
};

/* more: roots in addition to the configured ones. */
struct skill_places *skill_places_create(const struct config *config, const struct str *more, size_t more_count);
struct skill_places *skill_places_copy(const struct skill_places *places);
void skill_places_destroy(struct skill_places *places); /* NULL is a no-op */

/* Returns the root folders that exist for a working folder, highest precedence first. A cwd that is not an absolute
 * path has no project. Blocks for file access. */
size_t skill_places_roots(const struct skill_places *places, struct str cwd, struct arena *arena,
                          struct skill_root **ret);
/* True if the rules enable the skill. */
bool skill_places_allow(const struct skill_places *places, struct str path, struct str name);

#endif
