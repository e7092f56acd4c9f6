/* config_layer.h — the sources of settings: each file, option and flag is one layer, and higher layers override lower
 * ones.
 *
 * Layers may be pushed in any order; the kind decides, and within a kind the later one takes precedence.
 * Owns: the lists. The trees and texts are in the caller's arena. */
#ifndef CONFIG_CONFIG_LAYER_H
#define CONFIG_CONFIG_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "config/toml/toml.h"

enum config_layer_kind {
	CONFIG_LAYER_process, /* settings that a client gives for this process; every file overrides them */
	CONFIG_LAYER_system,  /* /etc/codex/config.toml */
	CONFIG_LAYER_user,    /* $CODEX_HOME/config.toml */
	CONFIG_LAYER_profile, /* [profiles.NAME] and $CODEX_HOME/NAME.config.toml */
	CONFIG_LAYER_project, /* .codex/config.toml, outermost folder first */
	CONFIG_LAYER_option,  /* -c key=value */
	CONFIG_LAYER_flag,    /* --model and similar flags */
	CONFIG_LAYER_role,    /* the settings of a subagent's role */
	CONFIG_LAYER_managed, /* /etc/codex/managed_config.toml: the administrator's settings */
	CONFIG_LAYER_fixed,   /* the settings that /etc/codex/requirements.toml fixes */
	CONFIG_LAYER_kind_count
};

struct config_layer {
	enum config_layer_kind kind;
	struct toml *root;
};

struct config_layers {
	struct arena *arena;
	VEC(struct config_layer) items;
	VEC(const char *)
	folders; /* folders whose config.toml is used if it exists; other files in them are read too */
	VEC(const char *) warnings;
	VEC(const char *) files; /* that were read, or looked for; a folder in place of its files if it did not exist */
	uint64_t stamp;          /* of these files, each before it was read */
};

void config_layers_init(struct config_layers *layers, struct arena *arena);
void config_layers_finish(struct config_layers *layers);

void config_layer_push(struct config_layers *layers, enum config_layer_kind kind, struct toml *root);
/* Reads a file and pushes it; a file that does not exist pushes nothing. ret_root may be NULL. */
must_check int config_layer_read(struct config_layers *layers, enum config_layer_kind kind, const char *path,
                                 struct toml **ret_root, struct error *err);
/* As config_layer_read, for a text that is not in a file yet. path: the file's name in messages. */
must_check int config_layer_text(struct config_layers *layers, enum config_layer_kind kind, struct str text,
                                 const char *path, struct toml **ret_root, struct error *err);
/* Notes the files on which the configuration of cwd may depend, also those that do not exist. To be called first. */
void config_layer_watch(struct config_layers *layers, const char *system, const char *home, const char *cwd);
/* To be called before a file is read that config_layer_read does not read. */
void config_layer_note(struct config_layers *layers, const char *path);
/* True if a file has changed since it was read. */
bool config_layers_changed(const struct config_layers *layers);
/* Pushes the option "key=value": value is TOML, or plain text if it is not valid TOML. */
must_check int config_layer_option(struct config_layers *layers, struct str option, struct error *err);
/* As config_layer_option, but the value replaces a table of lower layers. */
must_check int config_layer_server(struct config_layers *layers, struct str option, struct error *err);
/* As config_layer_option, with the lowest precedence. */
must_check int config_layer_default(struct config_layers *layers, struct str option, struct error *err);
/* Pushes a flag: its text becomes the value of a dotted key of config.def. */
must_check int config_layer_flag(struct config_layers *layers, const char *flag, const char *key, struct str value,
                                 struct error *err);

/* Returns the value of a root key in the highest layer that sets it, or NULL. */
const struct toml *config_layer_top(const struct config_layers *layers, const char *key);
/* Merges all layers into one tree. */
struct toml *config_layer_merge(const struct config_layers *layers);

/* Adds a warning. */
void config_layer_warn(struct config_layers *layers, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The location of an error in the configuration, for clients that show it in an editor. Borrows the error's text.
 * Any thread. */
struct config_mistake {
	struct str path;      /* STR_NONE: the error is not about a file */
	int64_t line, column; /* counted from 1; column is 1 if only the line is known */
};

/* text: an error of config_load, which begins with FILE:LINE: or FILE:LINE:COLUMN: if it is about a file. */
struct config_mistake config_mistake_read(struct str text);

#endif
