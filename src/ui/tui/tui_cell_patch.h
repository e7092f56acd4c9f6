/* tui_cell_patch.h — the cell of a patch: its files, counts, and changed lines with their numbers. Loop thread only. */
#ifndef UI_TUI_CELL_PATCH_H
#define UI_TUI_CELL_PATCH_H

#include "ui/tui/tui_page.h"

struct file_change;

enum tui_change_kind { CHANGE_added, CHANGE_deleted, CHANGE_edited };

/* The change of one file. Borrowed texts. */
struct tui_change {
	enum tui_change_kind kind;
	struct str path, move_path; /* move_path: its new path, or empty */
	struct str text;            /* the content of an added or deleted file; else hunks */
};

void tui_cell_patch(struct tui_page *page, const struct tui_change *changes, size_t count);
/* The same, as events have it. */
void tui_cell_changes(struct tui_page *page, const struct str *paths, const struct file_change *changes, size_t count);
/* True if lines that are added or edited are missing in the cell on a page that is not full. */
bool tui_changes_are_cut(const struct file_change *changes, size_t count);
/* Appends all lines of the changes, with a sign before each, and those of files that are deleted. */
void tui_changes_append(struct buf *out, const struct str *paths, const struct file_change *changes, size_t count);

#endif
