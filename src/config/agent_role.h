/* agent_role.h — roles of subagents: the tables [agents.NAME], and NAME.toml below agents/ in CODEX_HOME and in the
 * .codex of a trusted project.
 *
 * A role is a name that the model may start a subagent by, with settings that the subagent gets instead of its
 * parent's. A role that cannot be used is left out with a warning.
 * Owns: nothing; everything is in the arena of the layers. */
#ifndef CONFIG_AGENT_ROLE_H
#define CONFIG_AGENT_ROLE_H

#include "base/error.h"
#include "base/vec.h"
#include "config/config_layer.h"
#include "config/config_project.h"
#include "config/config_record.h"

struct agent_role {
	struct str name;
	const char *description; /* for the model */
	struct config_strings nicknames;
	struct toml *settings;    /* as in config.toml */
	struct str model, effort; /* of the settings; STR_NONE: the caller's choice */
};

struct agent_roles {
	struct agent_role *items;
	size_t count, cap;
};

/* The sources of roles. */
struct agent_role_source {
	struct config_layers *layers;             /* complete */
	const struct config_project_place *place; /* of the project */
	const char *home;
	size_t own_folders; /* number of layers->folders that are not a project's; they come first */
	bool ignores_user;  /* the user's files are not read */
	bool is_strict;     /* unknown keys are errors */
};

/* Reads all roles: the user's tables, then the user's files, then those of the project; of several with one name, the
 * first. The caller ends the list with vec_finish. An error: a key of
 * a table has a wrong type, or is unknown if is_strict. */
must_check int agent_roles_read(struct agent_roles *roles, const struct agent_role_source *source, struct error *err);
/* Leaves out the roles whose provider is neither built in nor in providers, the table model_providers in use. */
void agent_roles_check(struct agent_roles *roles, struct config_layers *layers, const struct toml *providers);
/* Warns if the word, the default of subagents, is no known effort: the Op that opens one has the known words only.
 * NULL is fine. */
void agent_role_warn_effort(struct config_layers *layers, const char *word);
/* Returns NULL if there is no such role. */
const struct agent_role *agent_role_find(const struct agent_roles *roles, struct str name);

#endif
