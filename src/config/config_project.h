/* config_project.h — a project's own settings: .codex/config.toml in each folder from the project's root
 * down to the working folder, and whether the user trusts them. */
#ifndef CONFIG_CONFIG_PROJECT_H
#define CONFIG_CONFIG_PROJECT_H

#include "base/error.h"
#include "config/config_layer.h"
#include "protocol/record/enum.h"

struct config_project_place {
	const char *cwd;        /* absolute, links resolved */
	const char *root;       /* the nearest folder upwards with a root marker, else cwd */
	enum trust_level trust; /* trust level of cwd */
};

/* Pushes the files of trusted folders; an untrusted file is skipped with a warning. Layers of the user and of
 * options must have been pushed before. Strings are allocated in the layers' arena. */
must_check int config_project_load(struct config_layers *layers, const char *codex_home, const char *cwd,
                                   struct config_project_place *ret_place, struct error *err);

/* A file of a project. */
struct config_project_file {
	const char *dir;  /* the folder whose trusted_hashes apply */
	const char *home; /* CODEX_HOME, for the warnings */
	struct str text;
};
struct config_allowed;
/* Removes from root, the settings in the file, what a project may not set. */
void config_project_limit(struct config_layers *layers, const struct config_allowed *allowed,
                          const struct config_project_file *file, struct toml *root);

#endif
