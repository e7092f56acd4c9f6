/* config_required.h — requirements.toml: the limits that an administrator sets for every session of this machine.
 *
 * config_load reads the file and applies it: a setting outside the limits is replaced, with a warning; a flag that
 * turns the sandbox off is refused. Everything that changes a setting later (an Op, a request of a client) calls a
 * check. A key that limits something which this version cannot limit is an error, so that no limit is ignored.
 *
 * The keys are the record config_requirements of config.def. Owns nothing: the data is in the arena of the config.
 * Errors are ERR_config for the file, and ERR_denied for a refusal; both name the file. Loop thread only. */
#ifndef CONFIG_CONFIG_REQUIRED_H
#define CONFIG_CONFIG_REQUIRED_H

#include "base/error.h"
#include "config/config_layer.h"
#include "config/config_record.h"

struct config;
struct buf;

struct config_required {
	const char *path;
	struct config_requirements keys;
	const struct toml *root;        /* the file without the keys that it fixes */
	enum sandbox_mode initial_mode; /* replaces modes and profiles that are not permitted */
};

/* Reads the file at path and pushes the settings that it fixes as a layer. A file that does not exist sets *ret to
 * NULL. */
must_check int config_required_read(struct config_layers *layers, const char *path, const struct config_required **ret,
                                    struct error *err);
/* Disables the MCP servers of the merged tree that the requirements do not permit. required may be NULL. */
void config_required_limit_servers(const struct config_required *required, struct config_layers *layers,
                                   struct toml *tree);
/* Replaces settings outside the limits. required may be NULL. */
must_check int config_required_apply(const struct config_required *required, struct config_layers *layers,
                                     const struct toml *tree, struct config *config, struct error *err);

/* The checks: 0 if the requirements permit the value. required may be NULL, which permits everything. */
must_check int config_required_check_sandbox(const struct config_required *required, enum sandbox_mode mode,
                                             struct error *err);
/* As config_required_check_sandbox, for the name of a permission profile. */
must_check int config_required_check_profile(const struct config_required *required, struct str name,
                                             struct error *err);
/* As config_required_check_sandbox, for writable folders or the network in addition to a permission profile. */
must_check int config_required_check_additions(const struct config_required *required, bool are_any, struct error *err);
/* As config_required_check_sandbox, for a policy of the wire. */
must_check int config_required_check_policy(const struct config_required *required, const struct sandbox *policy,
                                            struct error *err);
/* As config_required_check_sandbox, for the reviewer of approvals. */
must_check int config_required_check_reviewer(const struct config_required *required, enum approvals_reviewer reviewer,
                                              struct error *err);
/* True if this model is used with the automatic reviewer only. */
bool config_required_review_for(const struct config_required *required, const char *model);
must_check int config_required_check_review(const struct config_required *required, const char *model,
                                            enum approvals_reviewer reviewer, struct error *err);
must_check int config_required_check_approval(const struct config_required *required,
                                              const struct ask_for_approval *policy, struct error *err);
must_check int config_required_check_login(const struct config_required *required, enum login_method method,
                                           struct error *err);
/* Returns the widest permitted mode that is not wider than mode. */
enum web_search_mode config_required_limit_search(const struct config_required *required, enum web_search_mode mode);
/* Checks the table of permission profiles of the file. */
must_check int config_required_check_profiles(const struct toml *root, enum sandbox_mode *ret_initial,
                                              struct error *err);
/* Replaces a permission profile that is not permitted, and sets the one of a user who has not chosen any. */
void config_required_limit_profile(const struct config_required *required, struct config_layers *layers,
                                   struct config *config);
/* Checks the rules about commands of the file. */
must_check int config_required_check_rules(const struct toml *root, struct error *err);
/* Appends the rules about commands in the syntax of a .rules file. */
void config_required_write_rules(const struct config_required *required, struct buf *out);

#endif
