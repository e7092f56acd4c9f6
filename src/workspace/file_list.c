/* Changes are not noticed when they happen but when the list is used: the kernel queues them until then, so that a
 * process with lists does not wake up for a compiler that writes files. */
#include "workspace/file_list.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "workspace/file_list_priv.h"
#include "workspace/workspace_limits.h"

enum { GARBAGE = 1000 /* folders that have vanished, and names that may be unused, before the list is made again */ };

struct file_list *file_list_create(const char *root, bool may_watch)
{
	struct file_list *list = xnew(struct file_list);
	list->root = xstrdup(root);
	list->may_watch = may_watch;
	name_table_init(&list->table);
	pthread_mutex_init(&list->lock, NULL);
	pthread_cond_init(&list->is_read, NULL);
	return list;
}

static void clear(struct file_list *list)
{
	vec_for_each(folder, &list->folders)
		vec_finish(&folder->entries);
	vec_finish(&list->folders);
	vec_finish(&list->watched);
	vec_finish(&list->dirty);
	name_table_finish(&list->table);
	folder_watch_destroy(steal(list->watch));
	file_walk_destroy(steal(list->walk));
	list->entries = list->first_names = list->gone = list->next = 0;
	list->is_lost = false;
}

void file_list_destroy(struct file_list *list)
{
	if (!list)
		return;
	clear(list);
	pthread_cond_destroy(&list->is_read);
	pthread_mutex_destroy(&list->lock);
	free(list->root);
	free(list);
}

bool file_list_is_full(const struct file_list *list)
{
	return list->table.texts.over || list->entries >= LIMIT_SEARCH_FILES;
}

void file_list_add_folder(struct file_list *list, uint32_t parent, struct str name, const struct folder_rules *rules)
{
	struct file_folder folder = {.parent = parent, .rules = rules};
	struct str above = parent == FILE_LIST_NO_FOLDER ? STR("") : file_list_folder(list, parent);
	if (!buf_reserve(&list->table.texts, above.len + name.len + 1))
		return;
	if (name.len) {
		above = file_list_folder(list, parent); /* the texts may have moved */
		folder.at = name_table_put(&list->table, above, name, STR("/"));
		folder.len = (uint16_t)(above.len + name.len + 1);
		folder.depth = (uint16_t)(list->folders.items[parent].depth + 1);
	}
	vec_push(&list->folders, folder);
}

/* ---- changes ---- */

static void read_again(struct file_list *list, uint32_t number)
{
	struct file_folder *folder = &list->folders.items[number];
	if (folder->is_dirty || folder->is_gone)
		return;
	folder->is_dirty = true;
	vec_push(&list->dirty, number);
}

static void forget_child(struct file_list *list, uint32_t parent, struct str name)
{
	struct file_folder *above = &list->folders.items[parent];
	for (size_t i = 0; i < above->entries.count; i++) {
		uint32_t *entry = &above->entries.items[i];
		if (*entry & FILE_ENTRY_entered && str_eq(file_list_name(list, *entry >> FILE_ENTRY_BITS), name))
			*entry &= ~(uint32_t)FILE_ENTRY_entered;
	}
}

static struct str name_of(const struct file_list *list, const struct file_folder *folder)
{
	struct str path = str_n(list->table.texts.data + folder->at, folder->len);
	path = str_skip(path, list->folders.items[folder->parent].len);
	return str_n(path.ptr, path.len - 1);
}

/* A folder was removed, so it is empty. The one above forgets it, so that another one of its name is a new one. */
static void drop_folder(struct file_list *list, uint32_t number)
{
	struct file_folder *folder = &list->folders.items[number];
	if (folder->is_gone)
		return;
	if (folder->parent == FILE_LIST_NO_FOLDER) {
		list->is_lost = true;
		return;
	}
	forget_child(list, folder->parent, name_of(list, folder));
	list->entries -= folder->entries.count;
	vec_finish(&folder->entries);
	folder->is_gone = true;
}

/* True if a folder in it is in the list. */
static bool has_child(const struct file_folder *folder)
{
	for (size_t i = 0; i < folder->entries.count; i++)
		if (folder->entries.items[i] & FILE_ENTRY_entered)
			return true;
	return false;
}

/* Drops the folder of that name, which a process may still hold. A removed folder has lost its own folders before, so
 * one that has some was made since, and is not known as it is. */
static void drop_child(struct file_list *list, uint32_t parent, struct str name)
{
	list->is_lost |= ++list->gone > GARBAGE;
	for (uint32_t i = parent + 1; i < list->folders.count && !list->is_lost; i++) {
		const struct file_folder *folder = &list->folders.items[i];
		if (folder->is_gone || folder->parent != parent || !str_eq(name_of(list, folder), name))
			continue;
		list->is_lost |= has_child(folder);
		drop_folder(list, i);
	}
}

static void on_change(int number, enum folder_change change, const char *name, void *self)
{
	struct file_list *list = self;
	bool is_known = number > 0 && (size_t)number < list->watched.count;
	uint32_t folder = is_known ? list->watched.items[number] : FILE_LIST_NO_FOLDER;
	list->generation++;
	if (folder == FILE_LIST_NO_FOLDER)
		list->is_lost = true;
	else if (change == FOLDER_removed)
		drop_child(list, folder, str_of(name));
	else if (change == FOLDER_names)
		read_again(list, folder);
	else
		drop_folder(list, folder);
}

static bool is_usable(struct file_list *list, bool is_paused)
{
	if (list->is_lost || !file_walk_is_current(list->walk))
		return false;
	if (!list->watch)
		return !is_paused;
	bool is_whole = folder_watch_read(list->watch, on_change, list);
	bool is_stuck = list->dirty.count && file_list_is_full(list); /* there is no room to read a folder again */
	bool is_littered = list->first_names && list->table.names.count > 2 * list->first_names + GARBAGE;
	return is_whole && !list->is_lost && !is_stuck && !is_littered;
}

void file_list_refresh(struct file_list *list)
{
	bool is_paused = clock_now_ms() - list->walked_ms > LIMIT_SEARCH_PAUSE_MS;
	if (!list->walk || is_usable(list, is_paused))
		return;
	clear(list);
	name_table_init(&list->table);
	list->epoch++;
	list->generation++;
}

/* ---- reading ---- */

const char *file_list_root(const struct file_list *list)
{
	return list->root;
}

uint64_t file_list_epoch(const struct file_list *list)
{
	return list->epoch;
}

uint64_t file_list_generation(const struct file_list *list)
{
	return list->generation;
}

size_t file_list_bytes(const struct file_list *list)
{
	size_t bytes = name_table_bytes(&list->table) + list->folders.cap * sizeof(*list->folders.items);
	vec_for_each(folder, &list->folders)
		bytes += folder->entries.cap * sizeof(uint32_t);
	return bytes;
}

size_t file_list_names(const struct file_list *list)
{
	return list->table.names.count;
}

struct str file_list_name(const struct file_list *list, size_t name)
{
	return name_table_get(&list->table, name);
}

uint64_t file_list_letters(const struct file_list *list, size_t name)
{
	return list->table.letters.items[name];
}

size_t file_list_folders(const struct file_list *list)
{
	return list->next;
}

struct str file_list_folder(const struct file_list *list, size_t folder)
{
	const struct file_folder *it = &list->folders.items[folder];
	return it->len ? str_n(list->table.texts.data + it->at, it->len) : STR("");
}

const uint32_t *file_list_entries(const struct file_list *list, size_t folder, size_t *ret_count)
{
	*ret_count = list->folders.items[folder].entries.count;
	return list->folders.items[folder].entries.items;
}
