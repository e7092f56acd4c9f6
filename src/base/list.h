/* list.h — an intrusive doubly linked ring. A node belongs to at most one list.
 * An initialised, unlinked node points to itself, so list_remove is safe to call twice. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"

struct list {
	struct list *prev, *next;
};

inline void list_init(struct list *list)
{
	list->prev = list->next = list;
}

inline bool list_empty(const struct list *list)
{
	return list->next == list;
}

/* Adds node at the end of the ring whose head is `list`. */
#ifdef CODEX_SMALL /* as in base/str.h */
void list_append(struct list *list, struct list *node);
void list_remove(struct list *node);
#else
inline void list_append(struct list *list, struct list *node)
{
	node->prev = list->prev;
	node->next = list;
	list->prev->next = node;
	list->prev = node;
}

inline void list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}
#endif

#define list_entry(node, type, member) container_of(node, type, member)
#define list_first(list, type, member) (list_empty(list) ? NULL : list_entry((list)->next, type, member))

/* The loop body may remove `it`, but no other node. */
#define list_for_each(it, list, member)                                                          \
	for (__typeof__(it) it##_next = (it = list_entry((list)->next, __typeof__(*it), member), \
	                                list_entry(it->member.next, __typeof__(*it), member));   \
	     &it->member != (list); it = it##_next, it##_next = list_entry(it->member.next, __typeof__(*it), member))

#endif
