/* patch_tree.h — resolves paths once and later opens them without following links.
 *
 * Three kinds of path: `path`, as the patch names it, absolute and normalised as text; `real`, the file that a write
 * reaches when all links are followed; `entry`, the name that an unlink removes, which may be a link. Real and entry
 * paths are resolved once, and every later step walks them folder by folder and refuses links: replacing a folder by a
 * link while a patch waits for approval causes an error, not a write elsewhere. */
#ifndef PATCH_PATCH_TREE_H
#define PATCH_PATCH_TREE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct patch_error;

/* Resolves a patch's file name below cwd to an absolute path without "." and ".."; in the arena. */
const char *patch_path(struct arena *arena, const char *cwd, struct str name);
/* Follows links, also a dangling one; in the arena. NULL and errno. */
const char *patch_real(struct arena *arena, const char *path);
/* Follows links except in the last name; in the arena. NULL and errno. */
const char *patch_entry(struct arena *arena, const char *path);

/* Opens the folder of a real or entry path for the *at calls and points *ret_name at the last name. -1 and errno. */
must_check int patch_folder_open(const char *real, const char **ret_name);

/* Created folders, outermost first; the names are owned. */
struct patch_folders {
	VEC(char *) list;
};

/* Creates the missing folders above `real` and, unless `made` is NULL, records them. `path` is for the error text. */
must_check int patch_folders_make(const char *real, struct patch_folders *made, const char *path,
                                  struct patch_error *err);
/* Removes the recorded folders that are empty. */
void patch_folders_unmake(struct patch_folders *made);
void patch_folders_finish(struct patch_folders *made);

/* unlink of an entry path. 0 or errno. */
must_check int patch_entry_remove(const char *entry);
/* rename to another name in the same folder. 0 or errno. */
must_check int patch_entry_rename(const char *entry, const char *name);
/* An unused file name; owned by the caller. */
char *patch_entry_name(void);

/* True if unlinking the entry would remove the file at `real`: different names can be the same file. */
bool patch_is_same_file(const char *entry, const char *real);

#endif
