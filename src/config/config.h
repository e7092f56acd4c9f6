/* config.h — the settings of a session: read, merged and checked once, then immutable.
 *
 *	config->model, config->sandbox_workspace_write.network_access, config->is_set.approval_policy …
 *
 * The fields come from config.def. Precedence, lowest first: defaults of the program, then of this process,
 * /etc/codex/config.toml, $CODEX_HOME/config.toml, the profile, .codex/config.toml of a trusted project, -c, flags,
 * /etc/codex/managed_config.toml. /etc/codex/requirements.toml limits the result (config_required.h).
 * A config is reference-counted; all pointers in it are valid as long as it is. Loop thread only.
 * Errors name file, line and key. Unknown keys are warnings. No message contains a secret. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "config/config_layer.h"
#include "config/config_record.h"

struct agent_role;
struct agent_roles;
struct config_required;

/* A command-line flag that sets a key, such as {"--model", "model", "gpt-5.5"}. */
struct config_flag {
	const char *flag;
	const char *key;
	struct str value;
};

/* The sources of a config; they need not outlive config_load. */
struct config_source {
	const char *codex_home;      /* NULL: config_env_home */
	const char *system_file;     /* NULL: /etc/codex/config.toml */
	const char *admin_folder;    /* of managed_config.toml and requirements.toml; NULL: /etc/codex */
	const char *cwd;             /* absolute; NULL: the process's working directory */
	const char *profile;         /* the argument of --profile; may be NULL */
	const struct str *overrides; /* "key=value" texts, the arguments of -c */
	size_t override_count;
	/* "mcp_servers.NAME={…}" texts after the overrides. Each replaces the server NAME of files and overrides. */
	const struct str *servers;
	size_t server_count;
	const struct config_flag *flags;
	size_t flag_count;
	const struct str *defaults; /* "key=value" texts with the lowest precedence */
	size_t default_count;
	const struct str *user_text; /* replaces the content of $CODEX_HOME/config.toml; may be NULL */
	bool is_strict;              /* unknown keys are errors */
	bool ignore_user_config;
	bool ignore_project;    /* true: project files are ignored */
	bool bypass_hook_trust; /* hooks run without stored trust */
	bool needs_no_key;      /* no request will be sent: a provider without a key is no error */
	bool is_watched;        /* config_files_changed will be called; needs cwd */
	bool ignore_rules;      /* rules files other than the system's are ignored */
};

/* Loads and checks a config. Returns it with one reference, or NULL and err. */
must_check struct config *config_load(const struct config_source *source, struct error *err);
/* Returns a config that differs in mcp_servers only, with one reference. servers: an object, as in config.toml. NULL
 * and err if a server is wrong in itself. */
must_check struct config *config_with_servers(struct config *config, struct str servers, struct error *err);
/* Returns a config with the settings of a role above all but the administrator's, with one reference. */
must_check struct config *config_with_role(struct config *config, const struct agent_role *role, struct error *err);
/* Returns the roles of subagents. */
const struct agent_roles *config_roles(const struct config *config);
/* True if the system's or the user's file has the server that is used under this name, so that its settings can be
 * changed there. Assumed of all servers of config_with_servers. */
bool config_stores_server(const struct config *config, struct str name);
struct config *config_ref(struct config *config);
void config_unref(struct config *config); /* NULL is fine */

const char *config_home(const struct config *config); /* Returns CODEX_HOME; the folder may not exist yet. */
/* Returns the folders whose config.toml is used if it exists: the system's, CODEX_HOME and those of trusted
 * projects. */
const char *const *config_folders(const struct config *config, size_t *ret_count);
/* Returns the number of these folders that belong to the system and the user; they come first. */
size_t config_own_folders(const struct config *config);
/* True if file, in one of these folders, belongs to the user or the system, or if the user trusts its content by
 * hash (config_narrow.h). Any other file must not widen what commands may do. */
bool config_trusts_file(const struct config *config, const char *folder, struct str text);
/* True if the user trusts the project, and folder (absolute, without links) belongs to it. */
bool config_trusts_folder(const struct config *config, const char *folder);
/* Returns the root of the project, and its trust level. */
const char *config_project_root(const struct config *config, enum trust_level *ret_level);
/* Returns that root if folder is the real path of the cwd for which the configuration was loaded, or NULL. */
const char *config_root_of(const struct config *config, const char *folder);
bool config_ignores_rules(const struct config *config);
bool config_bypasses_hook_trust(const struct config *config);
bool config_needs_no_key(const struct config *config);
const char *config_profile(const struct config *config); /* the profile in use, or NULL */
/* Returns the administrator's requirements, or NULL without requirements.toml. */
const struct config_required *config_required(const struct config *config);

/* Returns one sentence for each warning, in the order of occurrence. */
const char *const *config_warnings(const struct config *config, size_t *ret_count);

/* Returns the dotted keys that have no effect in this version. */
const char *const *config_inert(const struct config *config, size_t *ret_count);

/* Returns the layers that were merged; of two layers of a kind the later one takes precedence. */
const struct config_layer *config_layers(const struct config *config, size_t *ret_count);
/* Return the merged tree, and its value at a dotted path (NULL if no layer sets it). A value keeps its source
 * location. */
const struct toml *config_tree(const struct config *config);
const struct toml *config_find(const struct config *config, const char *path);

/* Returns a binder for one table of a NAMED key, which was checked on loading. Bound data is allocated in arena. */
struct config_binder config_binder(const struct config *config, struct arena *arena);

/* True if a file that was read, or looked for, has changed since then; also one that a setting names. With is_watched
 * also if config_load would read a file now that it did not look for. Calls stat on a few files and opens none. */
bool config_files_changed(const struct config *config);

#endif
