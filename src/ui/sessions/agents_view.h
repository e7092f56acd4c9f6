/* agents_view.h — the tree of a session's agents from its rollout, for running and ended sessions.
 *
 * Owns: the data it has read. Blocking; for a command that does nothing else. */
#ifndef UI_AGENTS_VIEW_H
#define UI_AGENTS_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "protocol/record/types.h"

struct buf;

struct seen_agent {
	struct subagent_summary about; /* for the root: number, thread and inbox only */
	bool has_tokens;
	int64_t tokens; /* all tokens, sent and received */
};

struct agents_view {
	/* read-only */
	struct str session_id;
	bool is_live;                  /* a process holds the session */
	VEC(struct seen_agent) agents; /* ordered by number, the root first */
	/* private */
	struct arena arena;
};

/* Fills *ret, which must be finished even if this fails. */
must_check int agents_view_read(const char *home, const char *path, struct agents_view *ret, struct error *err);
void agents_view_finish(struct agents_view *view);

/* Prints a table with the children below their parents; control characters are made visible. */
void agents_view_print(const struct agents_view *view, int64_t now_ms, struct buf *out);
/* Prints {"session_id":…,"path":…,"is_live":…,"agents":[…]} on one line. */
void agents_view_print_json(const struct agents_view *view, const char *path, struct buf *out);

#endif
