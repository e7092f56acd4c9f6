/* config_layer.h — where settings come from, lowest precedence first: each file, option and flag is one
 * layer, and merging lays the higher over the lower (core 15).
 *
 * Layers may be pushed in any order; the kind decides, and within a kind the later one wins.
 * Owns: the lists. The trees and texts live in the caller's arena. */
#ifndef CONFIG_CONFIG_LAYER_H
#define CONFIG_CONFIG_LAYER_H

#include "base/vec.h"
#include "config/toml/toml.h"

struct error;

enum config_layer_kind {
	CONFIG_LAYER_process, /* what somebody switched for this process alone, where no file says otherwise */
	CONFIG_LAYER_system,  /* /etc/codex/config.toml */
	CONFIG_LAYER_user,    /* $CODEX_HOME/config.toml */
	CONFIG_LAYER_profile, /* [profiles.NAME] and $CODEX_HOME/NAME.config.toml */
	CONFIG_LAYER_project, /* .codex/config.toml, outermost folder first */
	CONFIG_LAYER_option,  /* -c key=value */
	CONFIG_LAYER_flag,    /* --model and its like */
	CONFIG_LAYER_kind_count
};

struct config_layer {
	enum config_layer_kind kind;
	struct toml *root;
};

struct config_layers {
	struct arena *arena;
	VEC(struct config_layer) items;
	VEC(const char *) folders; /* with a config.toml that counts, or would: for what else lies there */
	VEC(const char *) warnings;
};

void config_layers_init(struct config_layers *layers, struct arena *arena);
void config_layers_finish(struct config_layers *layers);

void config_layer_push(struct config_layers *layers, enum config_layer_kind kind, struct toml *root);
/* Reads a file and pushes it; an absent file is fine and pushes nothing. ret_root may be NULL. */
int config_layer_read(struct config_layers *layers, enum config_layer_kind kind, const char *path,
                      struct toml **ret_root, struct error *err);
/* The same for a text that is no file yet. path: what to call it. */
int config_layer_text(struct config_layers *layers, enum config_layer_kind kind, struct str text, const char *path,
                      struct toml **ret_root, struct error *err);
/* "key=value": a TOML value, or else the text itself without quotes around it. */
int config_layer_option(struct config_layers *layers, struct str option, struct error *err);
/* The same for what every file may overrule. */
int config_layer_default(struct config_layers *layers, struct str option, struct error *err);
/* A flag's text as the value of key (dotted, of our own making). */
int config_layer_flag(struct config_layers *layers, const char *flag, const char *key, struct str value,
                      struct error *err);

/* What the highest layer says about a key of the root, or NULL. */
const struct toml *config_layer_top(const struct config_layers *layers, const char *key);
/* All of them as one tree. */
struct toml *config_layer_merge(const struct config_layers *layers);

/* Something the user should know but that stops nothing. */
void config_layer_warn(struct config_layers *layers, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
