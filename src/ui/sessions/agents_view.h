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
	struct subagent_summary about; /* of the root: number, thread and inbox */
	bool has_tokens;
	int64_t tokens; /* sent and received, in all */
};

struct agents_view {
	/* read-only */
	struct str session_id;
	bool is_live;                  /* some process has it in hand */
	VEC(struct seen_agent) agents; /* by number, the root first */
	/* private */
	struct arena arena;
};

/* Fills *ret, which is to be finished also when this fails. */
must_check int agents_view_read(const char *home, const char *path, struct agents_view *ret, struct error *err);
void agents_view_finish(struct agents_view *view);

/* A table with the children below their parents; nothing from outside is obeyed by a terminal. */
void agents_view_print(const struct agents_view *view, int64_t now_ms, struct buf *out);
/* {"session_id":…,"path":…,"is_live":…,"agents":[…]} in one line. */
void agents_view_print_json(const struct agents_view *view, const char *path, struct buf *out);

#endif
