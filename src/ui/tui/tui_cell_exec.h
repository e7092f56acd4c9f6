/* tui_cell_exec.h — the cells of commands: one that ran, with the ends of its output; several that only read.
 *
 * Loop thread only. */
#ifndef UI_TUI_CELL_EXEC_H
#define UI_TUI_CELL_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
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

/* ---- commands that only read ---- */

/* A file that was read, or a line such as "List src". */
struct tui_explored_part {
	uint64_t number; /* of the command */
	bool is_read;
	char *text;
};

/* Parts in the order of the commands' beginnings. Zero-initialised. Owns: their texts. */
struct tui_explored {
	VEC(struct tui_explored_part) parts;
	size_t bytes;
};

void tui_explored_finish(struct tui_explored *explored);
void tui_explored_clear(struct tui_explored *explored);
bool tui_explored_is_empty(const struct tui_explored *explored);
/* Adds what a command reads; number: those that began later have a larger one. False, and nothing is added: it does
 * something else. */
bool tui_explored_add(struct tui_explored *explored, uint64_t number, const struct parsed_command *parsed,
                      size_t count);
/* Appends lines such as "Read a.c, b.c". */
void tui_explored_append(const struct tui_explored *explored, struct buf *out);
void tui_cell_explored(struct tui_page *page, const struct tui_explored *explored);

#endif
