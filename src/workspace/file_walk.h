/* file_walk.h — reads the folders below a root, one at a time, without the entries that ignore files exclude.
 *
 * Hidden entries are included, .git is not. Entries ignored by .ignore are skipped, and in a repository those
 * ignored by .gitignore (also above the root) and .git/info/exclude. A link is an entry and is not followed, so
 * there are no loops. Depth is limited to LIMIT_WALK_DEPTH. Patterns have a budget of LIMIT_WALK_STEPS per
 * reader, and LIMIT_WALK_ENTRY_STEPS per entry; when a hostile file has used it up, the entries that it ignores are
 * found.
 *
 * A walk may have several readers, each used by one thread. Owns: the rules of all folders that were read. Blocks: for
 * a worker. No function fails: what cannot be read is skipped. */
#ifndef WORKSPACE_FILE_WALK_H
#define WORKSPACE_FILE_WALK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/str.h"

struct file_walk;
struct file_walk_reader;
struct folder_rules;

/* Finds the root's repository and reads the rules above the root. A root that is missing has no entries. */
struct file_walk *file_walk_create(const char *root);
void file_walk_destroy(struct file_walk *walk); /* NULL is fine; after its readers */
/* False if the root is another folder now, or belongs to another repository, or a rule above it has changed. */
bool file_walk_is_current(const struct file_walk *walk);
/* The rules that apply to the entries of the root; each folder inherits those of the one above. */
const struct folder_rules *file_walk_rules(const struct file_walk *walk);

/* The readers of a walk that exist at the same time have different places. */
enum { FILE_WALK_READERS = 2 };
struct file_walk_reader *file_walk_reader_create(struct file_walk *walk, int place);
void file_walk_reader_destroy(struct file_walk_reader *reader); /* NULL is fine */
/* False if the reader could not open the root, so that it reads nothing. */
bool file_walk_is_open(const struct file_walk_reader *reader);

struct file_walk_folder {
	struct str path; /* relative to the root: empty, or with a slash at its end */
	size_t depth;    /* 0: the root */
	/* of the folder above; replaced by the folder's own when it has an ignore file */
	const struct folder_rules *rules;
	bool is_again; /* the folder was read before: `rules` are its own, and are kept */
};

struct file_walk_events {
	/* The folder (is_rules: an ignore file in it) was opened, and nothing of it was read yet. */
	void (*on_open)(int fd, bool is_rules, void *self);
	/* is_entered: a folder that can be read in turn. */
	void (*on_entry)(struct str name, bool is_folder, bool is_entered, void *self);
};

/* Reads one folder. False if it cannot be opened, with the cause in errno, or `stop` was set before its end: ECANCELED.
 */
bool file_walk_read(struct file_walk_reader *reader, struct file_walk_folder *folder,
                    const struct file_walk_events *events, const atomic_bool *stop, void *self);

#endif
