/* config_view.h — settings as clients see them: layers with their versions, and who said what.
 *
 * Owns: nothing but lists; texts live in the caller's arena, trees in the config. Loop thread only.
 * Source: app-server-wire 16. */
#ifndef APP_SERVER_CONFIG_VIEW_H
#define APP_SERVER_CONFIG_VIEW_H

#include "base/vec.h"
#include "config/config.h"
#include "protocol/message/app.h"

struct app_server;
struct json_writer;

struct layer_view {
	struct app_config_layer_metadata metadata;
	const struct toml *root;
	const char *source; /* of the nodes that come from it */
};

struct layer_views {
	VEC(struct layer_view) items; /* the strongest first */
};

/* A config with one reference, as the server's command line and its clients' switches have it. cwd NULL: of no project;
 * else with the settings of the project there. user_text: in place of what config.toml holds; may be NULL. */
struct config *config_view_load(struct app_server *server, const char *cwd, const struct str *user_text,
                                struct error *err);
/* Whether config.toml may hold this: by itself, as options of a command line could hide what is wrong with it. */
int config_view_check(const struct str *user_text, struct error *err);
/* What the server itself goes by is read again; if that fails, all stays as it is. */
void config_view_reload(struct app_server *server);

void layer_views_init(struct layer_views *views, const struct config *config, struct arena *arena);
void layer_views_finish(struct layer_views *views);
/* The user's file. */
const struct layer_view *layer_views_user(const struct layer_views *views);
/* Where a value of the merged tree comes from; NULL: from no layer that clients know. */
const struct layer_view *layer_views_find(const struct layer_views *views, const struct toml *node);

/* "sha256:…" of what a layer says, however it is written. */
struct str config_version(const struct toml *root, struct arena *arena);

/* ---- permission profiles ---- */

/* The name of a built-in permission profile; NULL after the last. */
const char *permission_profile_at(size_t index);
/* The built-in profile with this sandbox mode; NULL if none has it. */
const char *permission_profile_of(enum sandbox_mode mode);
/* ERR_config if no built-in profile has this name. */
int permission_profile_find(struct str name, enum sandbox_mode *ret_mode, struct error *err);

#endif
