/* config_narrow.h — what a project's file may say about commands: less than the user allows, never more.
 *
 * Trust in a folder is not trust in what is written there later: a sandboxed command can write sub/.codex/config.toml
 * below its working folder, and it would decide how the commands of a later session in sub are held. So a file that
 * the user has not trusted by its very content (trusted_hashes of [projects."FOLDER"]) may only take away from what
 * the user's own layers allow; what would widen that is dropped, with a warning that says how to let it count. */
#ifndef CONFIG_CONFIG_NARROW_H
#define CONFIG_CONFIG_NARROW_H

#include <stdbool.h>

#include "config/config_layer.h"
#include "protocol/record/enum.h"

/* "sha256:" and 64 digits. */
enum { CONFIG_HASH_SIZE = 7 + 64 + 1 };
void config_content_hash(struct str text, char ret[CONFIG_HASH_SIZE]);
/* True if an entry of [projects] for dir, or for a folder above it, names that hash. */
bool config_content_is_trusted(const struct config_layers *layers, const char *dir, const char *hash);

/* What the user's own layers say, before any of a project. */
struct config_allowed {
	const struct toml *user;      /* all of them merged */
	enum sandbox_mode mode;       /* where no layer sets one: that of the folder's trust */
	bool asks_about_every_command; /* approval_policy = "untrusted" */
};
void config_allowed_init(struct config_allowed *allowed, const struct config_layers *layers, enum trust_level trust);
/* Drops from root, read from a file whose content is not trusted, what would widen it. remedy: ends each warning. */
void config_narrow(struct config_layers *layers, const struct config_allowed *allowed, struct toml *root,
                   const char *remedy);

#endif
