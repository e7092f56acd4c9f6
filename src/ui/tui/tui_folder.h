/* tui_folder.h — the folder in which a session works: /pwd, /cd, /worktree. */
#ifndef UI_TUI_FOLDER_H
#define UI_TUI_FOLDER_H

struct tui;

/* At the end of the program: ends git, if it is still making a checkout. What it has made so far stays. */
void tui_folder_leave(struct tui *tui);

#endif
