/* Emits the functions of the header: what is compiled for size calls them. */
#include "base/list.h"

extern void list_init(struct list *list);
extern bool list_empty(const struct list *list);
extern void list_append(struct list *list, struct list *node);
extern void list_remove(struct list *node);
