/* file_walk.h — the files and folders below a root, one at a time.
 *
 * Hidden ones are among them, .git is not. What .ignore says is left out, and in a repository what .gitignore (also
 * above the root) and .git/info/exclude say. A link is an entry, what it leads to is not walked: there are no loops.
 * Deeper than LIMIT_WALK_DEPTH is not looked.
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

struct file_walk *file_walk_create(const char *root);
void file_walk_destroy(struct file_walk *walk); /* NULL is fine */
/* False at the end. */
bool file_walk_next(struct file_walk *walk, struct file_walk_entry *ret);

#endif
