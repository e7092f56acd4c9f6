/* tui_files.h — the files below a folder that match typed letters, searched on a worker. */
#ifndef UI_TUI_FILES_H
#define UI_TUI_FILES_H

#include "base/str.h"
#include "workspace/file_search.h"

struct loop;
struct tui_files;

/* on_change: better matches were found. */
struct tui_files *tui_files_create(struct loop *loop, const char *folder, void (*on_change)(void *self), void *self);
void tui_files_destroy(struct tui_files *files); /* NULL is fine */
/* Searches for other letters. */
void tui_files_ask(struct tui_files *files, struct str letters);
/* Returns the matches of the last letters asked for, best first; borrowed during the callback on_change alone. */
size_t tui_files_results(struct tui_files *files, const struct file_search_result **ret);

#endif
