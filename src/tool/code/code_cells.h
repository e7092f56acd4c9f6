/* code_cells.h — the scripts of a session: the cells that run, and the values that they have stored.
 *
 * A cell is a script that a process of codex-code-mode-host runs. Its calls of tools are ordinary
 * tool calls with the session as their host. A cell continues after its call was answered, also between two tasks.
 * Owns: the cells, their processes and calls, the stored values. Loop thread only. */
#ifndef TOOL_CODE_CELLS_H
#define TOOL_CODE_CELLS_H

#include <stdbool.h>

struct code_cells;
struct tool_host;

/* In all functions cells may be NULL, before the session has its host. */
struct code_cells *code_cells_create(struct tool_host *host);
void code_cells_destroy(struct code_cells *cells);

/* Ends all cells with everything that they have started: the user has interrupted the task. */
void code_cells_end(struct code_cells *cells);
/* The task has ended: ends the process that would run its next script. */
void code_cells_rest(struct code_cells *cells);
/* A task has begun: starts the calls that had to wait for it. */
void code_cells_resume(struct code_cells *cells);
/* The user has answered a request: delivers the results that were held until then. */
void code_cells_release(struct code_cells *cells);
/* The history no longer has the calls of exec: later notes of their scripts are dropped. */
void code_cells_forget_calls(struct code_cells *cells);
/* True if a cell has calls of tools that have not ended. */
bool code_cells_have_calls(const struct code_cells *cells);

#endif
