/* import.h — takes over what Claude Code has on this machine: settings, instructions, skills, prompts, hooks, MCP
 * servers and subagents, of the user and of projects, and the user's sessions. In codex-fleet only.
 *
 * The user's own things stay as they are: they are not offered, and reported as skipped if an import names them. The
 * user's settings about a project go to $CODEX_HOME, never into the project. Hooks need trust as any others. Values are
 * JSON as the app-server's protocol has it (externalAgentConfig/…). All functions block. */
#ifndef IMPORT_IMPORT_H
#define IMPORT_IMPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "import/import_report.h"
#include "import/import_tree.h"

struct import_scope;

struct import {
	struct arena arena;
	const char *home;           /* of the user */
	char *codex;                /* CODEX_HOME */
	struct import_source state; /* ~/.claude.json */
	struct import_names seen;   /* the projects that were detected */
	struct import_scope *last;  /* the places of the last item: those of a project follow each other */
	char *last_cwd;
	int64_t most_sessions, most_days; /* of a detection: how many sessions, and the age of their last change */
};

/* Reads the environment and ~/.claude.json. import_finish is needed in any case. */
must_check int import_init(struct import *import, struct error *err);
void import_finish(struct import *import);

/* Appends the items that can be imported, separated by commas: of the user (cwd NULL), or of the project that has this
 * folder, unless it was detected before. A source that cannot be read is an item whose description says why.
 * ERR_invalid: the folder is no project; other errors: it cannot be opened. */
must_check int import_detect(struct import *import, const char *cwd, struct buf *out, struct error *err);

/* Imports an item; details that are not null name its parts. */
void import_item(struct import *import, const struct json *item, struct import_result *ret);

#endif
