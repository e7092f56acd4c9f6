/* The array is in the order of use: the list that was used longest ago is the first. */
#include "workspace/file_lists.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "workspace/file_list.h"
#include "workspace/workspace_limits.h"

struct holding {
	struct file_list *list;
	size_t users;
};

struct file_lists {
	VEC(struct holding) holdings;
};

struct file_lists *file_lists_create(void)
{
	return xnew(struct file_lists);
}

static void remove_at(struct file_lists *lists, size_t at)
{
	struct holding *items = lists->holdings.items;
	memmove(items + at, items + at + 1, (--lists->holdings.count - at) * sizeof(*items));
}

void file_lists_clear(struct file_lists *lists)
{
	for (size_t i = lists->holdings.count; i-- > 0;) {
		if (lists->holdings.items[i].users)
			continue;
		file_list_destroy(lists->holdings.items[i].list);
		remove_at(lists, i);
	}
}

void file_lists_destroy(struct file_lists *lists)
{
	if (!lists)
		return;
	file_lists_clear(lists);
	vec_finish(&lists->holdings);
	free(lists);
}

size_t file_lists_kept(const struct file_lists *lists)
{
	size_t count = 0;
	vec_for_each(it, &lists->holdings)
		count += it->users == 0;
	return count;
}

/* Removes the list that no search holds and that was used longest ago. */
static void drop_oldest(struct file_lists *lists)
{
	for (size_t i = 0; i < lists->holdings.count; i++) {
		if (lists->holdings.items[i].users)
			continue;
		file_list_destroy(lists->holdings.items[i].list);
		remove_at(lists, i);
		return;
	}
}

struct file_list *file_lists_take(struct file_lists *lists, const char *root)
{
	struct holding held = {NULL, 1};
	for (size_t i = 0; i < lists->holdings.count && !held.list; i++) {
		if (strcmp(file_list_root(lists->holdings.items[i].list), root) != 0)
			continue;
		held = lists->holdings.items[i];
		held.users++;
		remove_at(lists, i);
	}
	if (!held.list) {
		if (lists->holdings.count >= LIMIT_SEARCH_LISTS)
			drop_oldest(lists);
		held.list = file_list_create(root, lists->holdings.count < LIMIT_SEARCH_LISTS);
	}
	vec_push(&lists->holdings, held);
	return held.list;
}

void file_lists_drop(struct file_lists *lists, struct file_list *list)
{
	size_t i = 0;
	while (lists->holdings.items[i].list != list)
		i++;
	struct holding held = lists->holdings.items[i];
	remove_at(lists, i);
	if (--held.users || file_list_bytes(list) <= LIMIT_SEARCH_KEPT)
		vec_push(&lists->holdings, held);
	else
		file_list_destroy(list);
	if (file_lists_kept(lists) > LIMIT_SEARCH_LISTS)
		drop_oldest(lists);
}
