/* file_list.h — the files and folders below a root, kept up to date from one use to the next.
 *
 * A name that occurs in many folders is stored once. Numbers of names and folders stay the same while `epoch` does. A
 * list that is watched reads the changed folders again, and is walked again after changes that are hard to follow; any
 * other list is walked again when its last walk was LIMIT_SEARCH_PAUSE_MS ago. Kinds of links are those of the last
 * walk. After a lack of descriptors or memory the next use walks again.
 *
 * Owns: at most LIMIT_SEARCH_FILES entries, with their paths in LIMIT_SEARCH_BYTES; no descriptor of a folder between
 * two calls. One thread at a time. Blocks: for a worker. No function fails. */
#ifndef WORKSPACE_FILE_LIST_H
#define WORKSPACE_FILE_LIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct file_list;

/* may_watch: changes are watched, if the kernel can do that. */
struct file_list *file_list_create(const char *root, bool may_watch);
void file_list_destroy(struct file_list *list); /* NULL is fine */
const char *file_list_root(const struct file_list *list);

/* Notices what has changed since the last call. */
void file_list_refresh(struct file_list *list);
/* Walks on, with a second thread, until LIMIT_SEARCH_SLICE further entries were found or `stop` is set. True if the
 * list is whole or full. */
bool file_list_walk(struct file_list *list, const atomic_bool *stop);

/* Grows when numbers become invalid. */
uint64_t file_list_epoch(const struct file_list *list);
/* Grows when entries have changed other than by more of them being found. */
uint64_t file_list_generation(const struct file_list *list);
/* The memory of the list. */
size_t file_list_bytes(const struct file_list *list);

/* An entry: the number of its name, shifted by FILE_ENTRY_BITS, and these bits. */
enum {
	FILE_ENTRY_folder = 1,  /* a folder or a link to one */
	FILE_ENTRY_entered = 2, /* a folder whose entries are in the list, too */
	FILE_ENTRY_BITS = 2,
};

size_t file_list_names(const struct file_list *list);
struct str file_list_name(const struct file_list *list, size_t name);
uint64_t file_list_letters(const struct file_list *list, size_t name); /* see fuzzy_letters */
size_t file_list_folders(const struct file_list *list);                /* the number of those that were read */
/* Relative to the root, with a slash at the end unless it is the root. */
struct str file_list_folder(const struct file_list *list, size_t folder);
const uint32_t *file_list_entries(const struct file_list *list, size_t folder, size_t *ret_count);

#endif
