/* code_cells_priv.h — a cell and its calls. Private to tool/code/. */
#ifndef TOOL_CODE_CELLS_PRIV_H
#define TOOL_CODE_CELLS_PRIV_H

#include "base/list.h"
#include "base/vec.h"
#include "tool/code/code_cells.h"
#include "tool/code/code_frame.h"
#include "tool/code/code_result.h"
#include "tool/code/code_tools.h"
#include "tool/tool.h"

struct json;
struct loop_timer;
struct process;

/* A process of codex-code-mode-host. */
struct code_host {
	struct code_cells *cells;
	struct code_cell *cell; /* whose script it runs; NULL: it waits for one */
	struct process *process;
	bool is_ready;   /* it can run another script: the process of the last one has ended */
	bool is_started; /* its script is sent */
	bool is_behind;  /* a result had to wait: the end of the script may leave a part of it in the pipe */
};

struct code_cells {
	struct tool_host *host;
	struct code_host *spare; /* has run a script of this task and waits for the next one; NULL: none */
	struct list all;         /* struct code_cell, oldest first */
	size_t running;
	unsigned last_id;
	VEC(struct code_value) store;
	size_t store_bytes;
	struct tool_call *exclusive; /* the running call of a tool that must run alone */
	bool is_ending;              /* all cells end: no call starts */
};

struct code_cell {
	struct list link;
	struct code_cells *cells;
	char id[16];
	char *exec_id;            /* call_id of the exec call */
	struct code_host *runner; /* NULL: the script has ended */
	struct code_frames frames;
	struct code_result result;
	struct code_tools tools;
	struct list calls; /* struct code_call, in the order of the calls */
	size_t call_count, call_bytes, running;
	size_t notes;
	VEC(int64_t) sessions; /* background commands that its calls have left */
	char *exit_reason;     /* the process has ended; its last frames may still be handled */
	char *failure;         /* why the cell has ended without an end of the script; it is the whole output */
	bool has_failed;       /* the script has ended by an exception */
	bool has_ended;        /* the script has said that it has ended, and nothing after that */
	bool is_due;           /* the waiter's answer is held until the user has answered a request */
	struct tool_call *waiter;
	struct loop_timer *timer;
	struct loop_deferred step; /* handles received frames, outside of the process's callback */
	uint64_t wait_started_ns;
	size_t tokens;
};

/* A call of a tool by a script. */
struct code_call {
	struct list link;
	struct code_cell *cell;
	struct tool_call *call;
	int64_t id;   /* the script's */
	size_t bytes; /* of its arguments */
	bool is_started;
};

/* ---- code_cells.c ---- */

/* Starts the process of a script. NULL and err if it cannot be started. */
must_check struct code_cell *code_cell_start(struct code_cells *cells, const struct tool_call *exec, struct error *err);
/* Returns NULL if there is no cell with this id. */
struct code_cell *code_cell_find(struct code_cells *cells, struct str id);
/* Lets the call wait for the end of the script, or for yield_ms; then finishes it with the output. */
void code_cell_wait(struct code_cell *cell, struct tool_call *call, uint64_t yield_ms, size_t tokens);
/* Ends the script and all that it has started, and finishes the call with the output so far. */
void code_cell_terminate(struct code_cell *cell, struct tool_call *call, size_t tokens);
/* Sends a frame to the script, which is emptied. */
void code_cell_send(struct code_cell *cell, struct buf *frame);
/* Ends the cell because its process has not kept to the protocol. */
void code_cell_break(struct code_cell *cell, const char *why);

/* ---- code_cells_host.c ---- */

/* Returns a host for the script of the cell: the one that waits, or a new one. NULL if it cannot be started. */
must_check struct code_host *code_host_take(struct code_cell *cell, struct error *err);
/* Sends a frame. False if the host does not read. */
must_check bool code_host_send(struct code_host *host, struct str frame);
/* The script has ended, or is ended: ends its host, or keeps it for the next script. */
void code_host_leave(struct code_cell *cell);

/* ---- code_cells_store.c ---- */

/* Stores the values {KEY: TEXT OF JSON} of a script; those for which there is no room are dropped. */
void code_store_merge(struct code_cells *cells, const struct json *values);
void code_store_finish(struct code_cells *cells);

/* ---- code_cells_call.c ---- */

/* Makes the call that a frame asks for. */
void code_call_add(struct code_cell *cell, const struct json *frame);
/* Starts the calls that can run. */
void code_calls_start(struct code_cell *cell);
/* Ends all calls, without results. */
void code_calls_drop(struct code_cell *cell);

#endif
