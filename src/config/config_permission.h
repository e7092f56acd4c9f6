/* config_permission.h — permission profiles: default_permissions and [permissions.NAME], as settings of the sandbox.
 *
 * A profile may only ask for what the sandbox enforces: an entry that would need a limit on reading or on hosts is an
 * error, so that no limit is ignored. Owns nothing; results live in the binder's arena. Any thread. */
#ifndef CONFIG_CONFIG_PERMISSION_H
#define CONFIG_CONFIG_PERMISSION_H

#include "base/error.h"
#include "config/config_layer.h"
#include "config/config_record.h"

/* The settings of a profile. */
struct config_permission {
	enum sandbox_mode mode;
	struct config_sandbox workspace; /* for workspace-write */
};

/* True if the name is that of a built-in profile. */
bool config_permission_is_built_in(struct str name, enum sandbox_mode *ret);
/* Returns the built-in profile of a mode, or NULL. */
const char *config_permission_of_mode(enum sandbox_mode mode);
/* Resolves a built-in name or a profile of the tree. ERR_config: unknown, in a circle, or not enforceable. */
must_check int config_permission_find(const struct toml *tree, struct str name, const struct config_binder *binder,
                                      struct config_permission *ret, struct error *err);

/* Applies default_permissions to the bound config, unless a higher layer sets sandbox_mode, or a project's file sets
 * read-only; is_set.default_permissions
 * says afterwards whether it was applied. */
must_check int config_permission_apply(const struct config_layers *layers, const struct toml *tree,
                                       const struct config_binder *binder, struct config *config, struct error *err);

#endif
