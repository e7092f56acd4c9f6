/* config_view.h — settings as clients see them: layers with their versions, and the origin of each value.
 *
 * Owns: the lists; texts live in the caller's arena, trees in the config. Loop thread only. */
#ifndef APP_SERVER_CONFIG_VIEW_H
#define APP_SERVER_CONFIG_VIEW_H

#include "base/error.h"
#include "base/vec.h"
#include "config/config.h"
#include "protocol/message/app.h"

struct app_server;
struct json_writer;

struct layer_view {
	struct app_config_layer_metadata metadata;
	const struct toml *root;
	const char *source; /* the source of nodes that belong to this layer */
};

struct layer_views {
	VEC(struct layer_view) items; /* highest precedence first */
};

/* Loads a config with the server's command line and the clients' feature switches. The settings of cwd's project are
 * included, unless cwd is NULL. user_text replaces the content of config.toml; may be NULL. The caller owns one
 * reference. */
must_check struct config *config_view_load(struct app_server *server, const char *cwd, const struct str *user_text,
                                           struct error *err);
/* Checks a new text of config.toml on its own, because command-line options could hide its errors. */
must_check int config_view_check(const struct str *user_text, struct error *err);
/* Reloads the server's own configuration; on error the old one stays in use. */
void config_view_reload(struct app_server *server);

void layer_views_init(struct layer_views *views, const struct config *config, struct arena *arena);
void layer_views_finish(struct layer_views *views);
/* Returns the layer of the user's file. */
const struct layer_view *layer_views_user(const struct layer_views *views);
/* Returns the layer of a value in the merged tree; NULL if clients do not know its layer. */
const struct layer_view *layer_views_find(const struct layer_views *views, const struct toml *node);

/* Returns "sha256:…" of a layer's values, independent of its formatting. */
struct str config_version(const struct toml *root, struct arena *arena);

/* ---- permission profiles ---- */

/* Returns the name of a built-in permission profile; NULL after the last. */
const char *permission_profile_at(size_t index);
/* Returns the built-in profile with this sandbox mode, or NULL. */
const char *permission_profile_of(enum sandbox_mode mode);
/* Returns ERR_config if no built-in profile has this name. */
must_check int permission_profile_find(struct str name, enum sandbox_mode *ret_mode, struct error *err);

#endif
