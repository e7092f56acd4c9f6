/* tui_cell_exec.h — the cells of commands: one that ran, with the ends of its output; several that only read.
 *
 * Loop thread only. */
#ifndef UI_TUI_CELL_EXEC_H
#define UI_TUI_CELL_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "ui/tui/tui_page.h"

struct parsed_command;

/* A command that has ended. Borrowed texts. */
struct tui_exec {
	struct str command, output;
	int64_t exit_code, duration_ms;
	bool is_user;    /* the user ran it */
	bool is_unended; /* there is no exit code: it was interrupted, or refused */
};

void tui_cell_exec(struct tui_page *page, const struct tui_exec *exec);

/* Appends the command as the user would read it: the script of a shell, else the quoted words. */
void tui_command_append(struct buf *out, const struct str *words, size_t count);

/* ---- commands that only read ---- */

/* Lines such as "Read a.c, b.c". Zero-initialised. Owns: its text. */
struct tui_explored {
	struct buf text;
	bool ends_with_read; /* a further file joins the last line */
	char *last_name;     /* of that line */
};

void tui_explored_init(struct tui_explored *explored);
void tui_explored_finish(struct tui_explored *explored);
void tui_explored_clear(struct tui_explored *explored);
bool tui_explored_is_empty(const struct tui_explored *explored);
/* Adds what a command reads. False, and nothing is added: it does something else. */
bool tui_explored_add(struct tui_explored *explored, const struct parsed_command *parsed, size_t count);
void tui_cell_explored(struct tui_page *page, struct str lines);

#endif
