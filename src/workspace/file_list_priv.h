/* file_list_priv.h — the parts of a list that its walk fills. */
#ifndef WORKSPACE_FILE_LIST_PRIV_H
#define WORKSPACE_FILE_LIST_PRIV_H

#include <pthread.h>

#include "base/vec.h"
#include "workspace/file_list.h"
#include "workspace/file_walk.h"
#include "workspace/folder_watch.h"
#include "workspace/name_table.h"

struct file_folder {
	uint32_t at; /* of its path, in the table's texts */
	uint16_t len, depth;
	uint32_t parent;
	bool is_dirty;                    /* in `dirty` */
	bool is_gone;                     /* it was removed; its path may be another one's */
	const struct folder_rules *rules; /* inherited until the folder was read, its own after that */
	VEC(uint32_t) entries;
};

enum { FILE_LIST_NO_FOLDER = UINT32_MAX };

struct file_list {
	char *root;
	bool may_watch;
	uint64_t epoch, generation, walked_ms;
	struct file_walk *walk;     /* NULL before the first use */
	struct folder_watch *watch; /* NULL: changes are not noticed */
	struct name_table table;
	VEC(struct file_folder) folders;
	VEC(uint32_t) watched; /* folders by the kernel's numbers; FILE_LIST_NO_FOLDER: an ignore file */
	VEC(uint32_t) dirty;   /* folders to read again */
	size_t entries;        /* their number */
	size_t first_names;    /* the number of names when the list first was whole; 0: it was not yet */
	size_t gone;           /* folders that have vanished */
	bool is_lost;          /* the changes cannot be followed */
	/* The walk: the folders from `next` on are not read yet. While two threads walk, the lock guards the list. */
	size_t next, reading, goal;
	atomic_bool is_unwatchable;
	pthread_mutex_t lock;
	pthread_cond_t is_read;
};

/* Adds a folder that is to be read. */
void file_list_add_folder(struct file_list *list, uint32_t parent, struct str name, const struct folder_rules *rules);
/* True if no more entries are taken. */
bool file_list_is_full(const struct file_list *list);

#endif
