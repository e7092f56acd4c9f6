/* file_walk.h — iterates over the files and folders below a root.
 *
 * Hidden entries are included, .git is not. Entries ignored by .ignore are skipped, and in a repository those
 * ignored by .gitignore (also above the root) and .git/info/exclude. A link is an entry and is not followed, so
 * there are no loops. Depth is limited to LIMIT_WALK_DEPTH. Patterns have a budget of LIMIT_WALK_STEPS, and
 * LIMIT_WALK_ENTRY_STEPS per entry; when a hostile file has used it up, the entries that it ignores are found.
 *
 * Owns: the open folders. Blocks: for a worker. No function fails: entries that cannot be read are skipped. */
#ifndef WORKSPACE_FILE_WALK_H
#define WORKSPACE_FILE_WALK_H

#include <stdbool.h>

#include "base/str.h"

struct file_walk;

struct file_walk_entry {
	struct str path; /* relative to the root; borrowed until the next call */
	bool is_folder;
};

enum file_walk_step {
	FILE_WALK_end,
	FILE_WALK_entry,
	FILE_WALK_passed, /* entries were skipped because of a limit */
};

struct file_walk *file_walk_create(const char *root);
void file_walk_destroy(struct file_walk *walk); /* NULL is fine */
/* Reads one name, so that the caller can stop after any: a folder may contain a million ignored entries. */
enum file_walk_step file_walk_next(struct file_walk *walk, struct file_walk_entry *ret);

#endif
