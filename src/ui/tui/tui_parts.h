/* tui_parts.h — parts of the state of the terminal client (tui_priv.h). */
#ifndef UI_TUI_PARTS_H
#define UI_TUI_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/exec/exec_options.h"
#include "ui/exec/exec_prompt.h"

struct codex;
struct tui;

/* Input that waits: for the running turn to read it, or for the turn to end. */
struct tui_waiting {
	char *text;
	struct exec_images images;
	bool is_queued; /* for the next turn; otherwise it was submitted to the running one */
};

/* A command that runs on after its call has returned. */
struct tui_terminal {
	char *id, *text; /* id: of its process, or of its call */
	bool has_process;
	bool in_background; /* no turn waits for it */
};

/* A patch or a call of an MCP server that has begun: its content, for people. */
struct tui_content {
	char *call_id, *text;
};

/* An action that the reviewer denied. content: of a patch or a call; NULL if it is not known. */
struct tui_denied {
	struct event *review;
	char *content;
};

struct tui_agent {
	struct tui *tui;
	struct codex *codex; /* NULL: it is not loaded, or belongs to another process */
	char *thread_id;
	char *name, *role; /* NULL if unknown */
	bool is_running;
	uint64_t started_ms, seen; /* of its turn; bytes of its rollout when it was shown last */
};

enum tui_tools { TOOLS_unwanted, TOOLS_by_count, TOOLS_by_name };

enum tui_fate { FATE_exported, FATE_archived, FATE_deleted };

struct tui_skill {
	char *name, *about;
	bool is_enabled;
};

/* The command line. Values are borrowed from argv. */
struct tui_options {
	struct exec_options run; /* first: the rows of exec_option.def count from its start */
	const char *approval;
	char *approval_line;  /* as an override; owned */
	const char *remote;   /* the address of a session elsewhere */
	bool lists, attaches; /* lists: codex attach --list */
	bool in_daemon;       /* the background server runs the session */
	const char *moved;    /* parameters of thread/resume for a session of this terminal; else NULL */
	bool ignored;
};

#endif
