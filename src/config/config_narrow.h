/* config_narrow.h — limits project files: they may narrow what commands and the model may do, never widen it.
 *
 * Trust in a folder does not extend to files that are written there later: a sandboxed command can write
 * sub/.codex/config.toml below its working folder, which would configure the sandbox of a later session in sub. A file
 * whose content the user has not trusted by hash (trusted_hashes of [projects."FOLDER"]) may therefore only narrow what
 * the user's own layers allow; a wider value is dropped with a warning that shows how to allow it. */
#ifndef CONFIG_CONFIG_NARROW_H
#define CONFIG_CONFIG_NARROW_H

#include <stdbool.h>

#include "config/config_layer.h"
#include "protocol/record/enum.h"

/* "sha256:" and 64 digits. */
enum { CONFIG_HASH_SIZE = 7 + 64 + 1 };
void config_content_hash(struct str text, char ret[CONFIG_HASH_SIZE]);
/* True if an entry of [projects] for dir, or for a folder above it, contains that hash. */
bool config_content_is_trusted(const struct config_layers *layers, const char *dir, const char *hash);

/* The limits that the user's own layers set, without those of projects. */
struct config_allowed {
	const struct toml *user;       /* the user's layers, merged */
	enum sandbox_mode mode;        /* the user's setting, or the default for the folder's trust level */
	enum web_search_mode search;   /* the user's setting, or its default */
	bool selects_search;           /* false: the default, which also depends on the model */
	bool asks_about_every_command; /* true if approval_policy is "untrusted" */
};
void config_allowed_init(struct config_allowed *allowed, const struct config_layers *layers, enum trust_level trust);
/* Removes values that widen the limits from root, which was read from a file whose content is not trusted. remedy
 * ends each warning. */
void config_narrow(struct config_layers *layers, const struct config_allowed *allowed, struct toml *root,
                   const char *remedy);

/* Removes from root, the settings of a subagent's role, what widens the settings of its parent. Not compared are
 * sandbox_mode and a search by default: the engine compares them with those in use. */
void config_narrow_role(struct config_layers *layers, const struct config_allowed *allowed, struct toml *root);

#endif
