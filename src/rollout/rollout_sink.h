/* rollout_sink.h — a store outside of the process that holds rollouts, in place of files.
 *
 * The lines of a session and of its subagents go to the sink before the events that they belong to leave the Codex.
 * Files in `folder` are a cache for the life of the process: a write error there is harmless. Borrowed; must outlive
 * the Codexes that use it. Loop thread only. */
#ifndef ROLLOUT_ROLLOUT_SINK_H
#define ROLLOUT_ROLLOUT_SINK_H

#include <stdint.h>

#include "base/str.h"

struct rollout_sink {
	const char *folder; /* takes the place of CODEX_HOME for rollouts; private to the process */
	/* Stores whole lines, each with its line break. */
	void (*on_lines)(void *self, const char *thread_id, struct str lines);
	/* Stores that the effects of a call are about to begin. */
	void (*on_begin)(void *self, const char *thread_id, struct str call_id);
	/* Returns a number, greater than all before, for everything that was passed to the sink and to on_event up to
	 * now: codex_settle with it reports that this is stored. */
	uint64_t (*barrier)(void *self);
	void *self;
};

#endif
