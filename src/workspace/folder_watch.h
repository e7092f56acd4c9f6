/* folder_watch.h — notices that names in some folders have appeared or vanished, by inotify.
 *
 * The kernel queues the changes until they are read, so a watch wakes no process. It exists for local file systems
 * only, because the kernel does not report what other machines do. It does not keep a file system from being unmounted.
 *
 * Owns: two descriptors. Adding: any thread; the rest: one at a time. Blocking: no. Source: inotify(7), proc(5). */
#ifndef WORKSPACE_FOLDER_WATCH_H
#define WORKSPACE_FOLDER_WATCH_H

#include <stdbool.h>

struct folder_watch;

/* NULL if the kernel offers no more of them. */
struct folder_watch *folder_watch_create(void);
void folder_watch_destroy(struct folder_watch *watch); /* NULL is fine */

/* Watches an open folder: its changes are reported from now on. is_file: a file, each change of which makes the watch
 * useless; files may be links to each other. Returns the kernel's number, which grows from 1 on; -1 if that is
 * impossible, or the folder is watched already. */
int folder_watch_add(struct folder_watch *watch, int fd, bool is_file);

enum folder_change {
	FOLDER_names,    /* a name has appeared or vanished */
	FOLDER_removed,  /* `name`, a folder in it, was removed: comes before FOLDER_names, for which name is NULL */
	FOLDER_vanished, /* the folder was removed, and no process holds it any more */
};

typedef void (*folder_watch_fn)(int number, enum folder_change change, const char *name, void *self);
/* Reads the changes that were queued before the call; what comes meanwhile is read by the next one. False if the watch
 * is of no more use: the kernel has dropped changes, something was mounted or unmounted, a folder was moved or its
 * permissions have changed, an ignore file has appeared, vanished or changed.
 */
bool folder_watch_read(struct folder_watch *watch, folder_watch_fn on_change, void *self);

#endif
