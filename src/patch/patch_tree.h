/* patch_tree.h — where a file really is, and getting there without being led elsewhere.
 *
 * Three kinds of path: `path`, what the patch means, absolute and normalised as text; `real`, where writing
 * to it ends up once all links are followed; `entry`, the name that removing it removes, which may be a link.
 * Real and entry paths are decided on once, and every later step walks them folder by folder refusing links: who
 * swaps a folder for a link while a patch waits for its approval gets an error, not a file in another place. */
#ifndef PATCH_PATCH_TREE_H
#define PATCH_PATCH_TREE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct patch_error;

/* The absolute path, without "." and "..", that a patch's file name means below cwd; in the arena. */
const char *patch_path(struct arena *arena, const char *cwd, struct str name);
/* Links followed, also one that leads to nothing yet; in the arena. NULL and errno. */
const char *patch_real(struct arena *arena, const char *path);
/* Links followed but for the last name; in the arena. NULL and errno. */
const char *patch_entry(struct arena *arena, const char *path);

/* Opens the folder of a real or entry path for the *at calls and points *ret_name at the last name. -1 and errno. */
int patch_folder_open(const char *real, const char **ret_name);

/* Folders that were made, outermost first; the names are owned. */
struct patch_folders {
	VEC(char *) list;
};

/* Makes the folders above real that are missing and, unless made is NULL, notes which. path is for the error. */
int patch_folders_make(const char *real, struct patch_folders *made, const char *path, struct patch_error *err);
/* Removes those that are empty again. */
void patch_folders_unmake(struct patch_folders *made);
void patch_folders_finish(struct patch_folders *made);

/* unlink of an entry path. 0 or errno. */
int patch_entry_remove(const char *entry);
/* rename to another name in the same folder. 0 or errno. */
int patch_entry_rename(const char *entry, const char *name);
/* A file name that is not in use; owned by the caller. */
char *patch_entry_name(void);

/* True if removing the entry would remove what is at real: two names may differ and be one. */
bool patch_is_same_file(const char *entry, const char *real);

#endif
