/* import_tree.h — the files below one folder, for an import.
 *
 * The files of a project are untrusted, and another process may change them meanwhile: such a tree is opened once, and
 * read and written below its descriptor without following links (openat2). Only the user's own files are read through
 * links. Paths are relative to the tree; names are single ones. Errors name the file. All functions block. */
#ifndef IMPORT_IMPORT_TREE_H
#define IMPORT_IMPORT_TREE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"

struct import_tree {
	int fd; /* -1: not open */
	const char *path;
	bool follows_links;
};

struct import_names {
	struct str *items;
	size_t count, cap;
};

/* Opens the folder at path, which it borrows. is_real: a path that has become a link meanwhile is refused. */
must_check int import_tree_open(struct import_tree *tree, const char *path, bool is_real, struct error *err);
/* Opens the same folder again, also if there is another one at its path by now. */
must_check int import_tree_share(struct import_tree *tree, const struct import_tree *other, struct error *err);
/* True if the path below the tree, without following links, is the folder at the other path. */
bool import_tree_is(const struct import_tree *tree, const char *path, const char *other);
void import_tree_close(struct import_tree *tree);

/* An object that was read from a JSON file. */
struct import_source {
	const struct json *json; /* NULL: it does not exist, or cannot be used */
	struct error err;        /* why; ERR_not_found is no failure */
};
struct import_source import_source_read(const struct import_tree *tree, const char *path, size_t most,
                                        struct arena *arena);
/* Fails if there is a source that cannot be used. */
must_check int import_source_check(const struct import_source *source, struct error *err);

/* True if there is something at path; without following links, also a link to nowhere. */
bool import_tree_has(const struct import_tree *tree, const char *path);
/* Reads a regular file of at most `most` bytes into the arena; ERR_not_found if it does not exist. ret_mode may be
 * NULL. */
must_check int import_tree_read(const struct import_tree *tree, const char *path, size_t most, struct arena *arena,
                                struct str *ret, mode_t *ret_mode, struct error *err);
/* Adds the names of a folder that end with suffix, without it, sorted. A missing folder has none. ERR_limit for a
 * folder with more than LIMIT_IMPORT_ENTRIES entries. */
must_check int import_tree_list(const struct import_tree *tree, const char *path, const char *suffix,
                                struct arena *arena, struct import_names *names, struct error *err);
/* Opens a folder, and creates it and its parents with this mode if it is not 0. Returns a descriptor to close. */
must_check int import_tree_folder(const struct import_tree *tree, const char *path, mode_t mode, struct error *err);

/* Writes a file atomically. Unless it replaces, a file that exists meanwhile is left alone, which is an error. */
struct import_file {
	const char *folder, *name;
	mode_t mode; /* of the file; its missing folders are closed to others if it is */
	bool replaces;
};
must_check int import_tree_write(const struct import_tree *tree, const struct import_file *file, struct str text,
                                 struct error *err);
/* Copies from_folder to the target, where it appears when it is complete; the right to execute is
 * kept. *ret_left is the number of links and special files, which are left out. */
must_check int import_tree_copy(const struct import_tree *from, const char *from_folder, const struct import_tree *to,
                                const struct import_file *target, unsigned *ret_left, struct error *err);

#endif
