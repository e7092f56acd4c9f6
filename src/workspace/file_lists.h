/* file_lists.h — the lists of files that searches share, one per root, and those that are kept for the next search.
 *
 * Owns: the lists. Loop thread only; a list that a search holds is used by that search's step. */
#ifndef WORKSPACE_FILE_LISTS_H
#define WORKSPACE_FILE_LISTS_H

#include <stdbool.h>
#include <stddef.h>

struct file_list;
struct file_lists;

struct file_lists *file_lists_create(void);
void file_lists_destroy(struct file_lists *lists); /* NULL is fine; after all searches */

/* Returns the list of a root (an absolute path), to be returned with file_lists_drop. */
struct file_list *file_lists_take(struct file_lists *lists, const char *root);
/* The list is one that was taken. It is kept if it is among the last LIMIT_SEARCH_LISTS, and not larger than
 * LIMIT_SEARCH_KEPT. */
void file_lists_drop(struct file_lists *lists, struct file_list *list);
/* Frees the lists that no search holds. */
void file_lists_clear(struct file_lists *lists);
/* The number of lists that no search holds. */
size_t file_lists_kept(const struct file_lists *lists);

#endif
