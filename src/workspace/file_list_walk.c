/* Two threads take folders from one queue, which is the array of folders itself: reading a folder is system calls, and
 * only adding its names needs the lock. A thread adds what it has read in pieces, so that its memory is bounded. */
#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "workspace/file_list.h"
#include "workspace/file_list_priv.h"
#include "workspace/workspace_limits.h"

enum {
	PIECE = 512,   /* entries that a thread adds at once */
	HELP_FROM = 8, /* folders in the queue from which on a second thread helps */
};

/* One thread of a walk. */
struct walker {
	struct file_list *list;
	const atomic_bool *stop;
	struct file_walk_reader *reader;
	uint32_t number; /* of the folder that is read */
	struct file_walk_folder folder;
	struct buf path;
	/* entries that were not added yet */
	struct buf texts;
	struct piece {
		uint64_t hash;
		uint32_t len, bits;
	} pieces[PIECE];
	size_t count;
	/* the folders among the entries that the folder had when it was read before, sorted by the numbers of their
	 * names; without FILE_ENTRY_folder: found again */
	uint32_t *old;
	size_t old_count;
	struct walker *helper; /* of the first thread: NULL until it is started */
	pthread_t thread;
	bool is_alone; /* the helper itself, or no helper could be started */
};

/* ---- adding ---- */

static int compare_names(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a >> FILE_ENTRY_BITS, right = *(const uint32_t *)b >> FILE_ENTRY_BITS;
	return (left > right) - (left < right);
}

/* Returns whether the folder had that folder before, and notes that it still has. */
static bool was_entered(struct walker *walker, uint32_t entry)
{
	uint32_t *old = walker->old_count
	                        ? bsearch(&entry, walker->old, walker->old_count, sizeof(entry), compare_names)
	                        : NULL;
	if (old)
		*old &= ~(uint32_t)FILE_ENTRY_folder;
	return old != NULL;
}

static void add_piece(struct walker *walker, const struct piece *piece, struct str name)
{
	struct file_list *list = walker->list;
	uint32_t entry = name_table_add(&list->table, name, piece->hash) << FILE_ENTRY_BITS | piece->bits;
	if (file_list_is_full(list))
		return;
	vec_push(&list->folders.items[walker->number].entries, entry);
	list->entries++;
	if (piece->bits & FILE_ENTRY_entered && !was_entered(walker, entry))
		file_list_add_folder(list, walker->number, name, walker->folder.rules);
}

static void add_pieces(struct walker *walker)
{
	struct str texts = buf_str(&walker->texts);
	pthread_mutex_lock(&walker->list->lock);
	for (size_t i = 0; i < walker->count; i++) {
		add_piece(walker, &walker->pieces[i], str_n(texts.ptr, walker->pieces[i].len));
		texts = str_skip(texts, walker->pieces[i].len);
	}
	pthread_mutex_unlock(&walker->list->lock);
	walker->count = 0;
	buf_truncate(&walker->texts, 0);
}

static void on_entry(struct str name, bool is_folder, bool is_entered, void *self)
{
	struct walker *walker = self;
	unsigned bits = (is_folder ? FILE_ENTRY_folder : 0) | (is_entered ? FILE_ENTRY_entered : 0);
	if (walker->count == PIECE || walker->texts.len + name.len > walker->texts.max)
		add_pieces(walker);
	walker->pieces[walker->count++] =
		(struct piece){name_table_hash(&walker->list->table, name), (uint32_t)name.len, bits};
	buf_append_str(&walker->texts, name);
}

static void on_open(int fd, bool is_rules, void *self)
{
	struct walker *walker = self;
	struct file_list *list = walker->list;
	if (!list->watch || walker->folder.is_again || atomic_load(&list->is_unwatchable))
		return;
	int number = folder_watch_add(list->watch, fd, is_rules);
	if (number < 0) {
		atomic_store(&list->is_unwatchable, true);
		return;
	}
	pthread_mutex_lock(&list->lock);
	while (list->watched.count <= (size_t)number)
		vec_push(&list->watched, FILE_LIST_NO_FOLDER);
	list->watched.items[number] = is_rules ? FILE_LIST_NO_FOLDER : walker->number;
	pthread_mutex_unlock(&list->lock);
}

/* ---- reading ---- */

/* With the lock held: prepares to read a folder. */
static void take_folder(struct walker *walker, uint32_t number, bool is_again)
{
	struct file_folder *folder = &walker->list->folders.items[number];
	buf_clear(&walker->path);
	buf_append_str(&walker->path, file_list_folder(walker->list, number));
	walker->number = number;
	walker->folder = (struct file_walk_folder){buf_str(&walker->path), folder->depth, folder->rules, is_again};
	walker->list->entries -= folder->entries.count;
	walker->old = folder->entries.items;
	walker->old_count = 0;
	for (size_t i = 0; i < folder->entries.count; i++) {
		if (walker->old[i] & FILE_ENTRY_entered)
			walker->old[walker->old_count++] = walker->old[i];
	}
	if (walker->old_count)
		qsort(walker->old, walker->old_count, sizeof(*walker->old), compare_names);
	folder->entries.items = NULL;
	folder->entries.count = folder->entries.cap = 0;
	folder->is_dirty = false;
}

/* With the lock held: the folder, which was not read to its end, is read again, and keeps those that are below it. */
static void put_back(struct walker *walker, struct file_folder *folder)
{
	for (size_t i = 0; i < walker->old_count; i++) {
		if (!(walker->old[i] & FILE_ENTRY_folder))
			continue;
		vec_push(&folder->entries, walker->old[i]);
		walker->list->entries++;
	}
	folder->is_dirty = true;
	vec_push(&walker->list->dirty, walker->number);
}

static void read_folder(struct walker *walker)
{
	static const struct file_walk_events events = {on_open, on_entry};
	struct file_list *list = walker->list;
	bool is_whole = file_walk_read(walker->reader, &walker->folder, &events, walker->stop, walker);
	int sys = is_whole ? 0 : errno;
	add_pieces(walker);
	pthread_mutex_lock(&list->lock);
	struct file_folder *folder = &list->folders.items[walker->number];
	folder->rules = walker->folder.rules;
	list->is_lost |= sys == EMFILE || sys == ENFILE || sys == ENOMEM;
	if (sys == ECANCELED)
		put_back(walker, folder);
	else if (sys && walker->number == 0) /* no folder reports when the root becomes readable */
		atomic_store(&list->is_unwatchable, true);
	pthread_mutex_unlock(&list->lock);
	free(steal(walker->old));
	walker->old_count = 0;
}

/* Reads changed folders again, in slices of about LIMIT_SEARCH_SLICE entries. */
static void read_dirty(struct walker *walker)
{
	struct file_list *list = walker->list;
	for (size_t read = 0; list->dirty.count && read < LIMIT_SEARCH_SLICE;) {
		if (file_list_is_full(list) || atomic_load(walker->stop))
			break;
		uint32_t number = list->dirty.items[--list->dirty.count];
		if (list->folders.items[number].is_gone)
			continue;
		take_folder(walker, number, true);
		read_folder(walker);
		read += 1 + list->folders.items[number].entries.count;
		list->generation++;
	}
}

/* ---- the queue ---- */

static void start_helper(struct walker *walker);

static void skip_gone(struct file_list *list)
{
	while (list->next < list->folders.count && list->folders.items[list->next].is_gone)
		list->next++;
}

/* With the lock held: waits for a folder to read, and takes it. False at the end. */
static bool next_folder(struct walker *walker)
{
	struct file_list *list = walker->list;
	skip_gone(list); /* between two slices only: none vanishes during a walk */
	while (list->next == list->folders.count && list->reading)
		pthread_cond_wait(&list->is_read, &list->lock);
	if (list->next == list->folders.count || list->entries >= list->goal || file_list_is_full(list) ||
	    atomic_load(walker->stop))
		return false;
	if (list->folders.count - list->next >= HELP_FROM && !walker->is_alone && !walker->helper)
		start_helper(walker);
	take_folder(walker, (uint32_t)list->next++, false);
	return true;
}

static void *read_queue(void *self)
{
	struct walker *walker = self;
	struct file_list *list = walker->list;
	pthread_mutex_lock(&list->lock);
	while (next_folder(walker)) {
		list->reading++;
		pthread_mutex_unlock(&list->lock);
		read_folder(walker);
		pthread_mutex_lock(&list->lock);
		list->reading--;
		pthread_cond_broadcast(&list->is_read);
	}
	pthread_mutex_unlock(&list->lock);
	return NULL;
}

/* ---- threads ---- */

static void walker_destroy(struct walker *walker)
{
	file_walk_reader_destroy(walker->reader);
	buf_finish(&walker->path);
	buf_finish(&walker->texts);
	free(walker);
}

static struct walker *walker_create(struct file_list *list, const atomic_bool *stop, bool is_helper)
{
	struct walker *walker = xmalloc(sizeof(*walker)); /* not zeroed: the pieces are large */
	walker->list = list;
	walker->stop = stop;
	walker->reader = file_walk_reader_create(list->walk, is_helper);
	walker->count = walker->old_count = 0;
	walker->old = NULL;
	walker->helper = NULL;
	walker->is_alone = is_helper;
	buf_init(&walker->path, LIMIT_WALK_PATH);
	buf_init(&walker->texts, LIMIT_SEARCH_PIECE);
	return walker;
}

/* Without a second thread the first one reads all. */
static void start_helper(struct walker *walker)
{
	struct walker *helper = walker_create(walker->list, walker->stop, true);
	walker->is_alone =
		!file_walk_is_open(helper->reader) || pthread_create(&walker->thread, NULL, read_queue, helper) != 0;
	if (walker->is_alone)
		walker_destroy(helper);
	else
		walker->helper = helper;
}

static void end_helper(struct walker *walker)
{
	if (!walker->helper)
		return;
	pthread_join(walker->thread, NULL);
	walker_destroy(steal(walker->helper));
}

/* ---- a walk ---- */

static void begin(struct file_list *list)
{
	list->walk = file_walk_create(list->root);
	list->watch = list->may_watch ? folder_watch_create() : NULL;
	atomic_store(&list->is_unwatchable, false);
	file_list_add_folder(list, FILE_LIST_NO_FOLDER, STR(""), file_walk_rules(list->walk));
}

/* True if nothing is left to read. */
static bool is_whole(const struct file_list *list)
{
	return file_list_is_full(list) || (!list->dirty.count && list->next == list->folders.count);
}

bool file_list_walk(struct file_list *list, const atomic_bool *stop)
{
	if (!list->walk)
		begin(list);
	if (is_whole(list))
		return true;
	struct walker *walker = walker_create(list, stop, false);
	list->goal = list->entries + LIMIT_SEARCH_SLICE;
	read_dirty(walker);
	if (!list->dirty.count)
		read_queue(walker);
	end_helper(walker);
	walker_destroy(walker);
	if (atomic_load(&list->is_unwatchable))
		folder_watch_destroy(steal(list->watch));
	list->walked_ms = clock_now_ms();
	if (is_whole(list) && !list->first_names)
		list->first_names = list->table.names.count;
	return is_whole(list);
}
