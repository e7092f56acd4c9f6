/* file_walk.h — the files and folders below a root, one at a time.
 *
 * Hidden ones are among them, .git is not. What .ignore says is left out, and in a repository what .gitignore (also
 * above the root) and .git/info/exclude say. A link is an entry, what it leads to is not walked: there are no loops.
 * Deeper than LIMIT_WALK_DEPTH is not looked. Patterns have LIMIT_WALK_STEPS and LIMIT_WALK_ENTRY_STEPS an entry; where
 * a hostile file has used them up, what it would ignore is found.
 * Owns: the folders it has open. Blocks: for a worker. Nothing here fails: what cannot be read is not there. */
#ifndef WORKSPACE_FILE_WALK_H
#define WORKSPACE_FILE_WALK_H

#include <stdbool.h>

#include "base/str.h"

struct file_walk;

struct file_walk_entry {
	struct str path; /* from the root; borrowed until the next call */
	bool is_folder;
};

enum file_walk_step {
	FILE_WALK_end,
	FILE_WALK_entry,
	FILE_WALK_passed, /* something was left out; there may be more */
};

struct file_walk *file_walk_create(const char *root);
void file_walk_destroy(struct file_walk *walk); /* NULL is fine */
/* Looks at one name, so that the caller may stop between any two: a folder may hold a million that are ignored. */
enum file_walk_step file_walk_next(struct file_walk *walk, struct file_walk_entry *ret);

#endif
