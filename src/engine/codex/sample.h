/* sample.h — one more answer to a history, which nobody but who asked for it gets to know. Private to engine/; its door
 * is codex_sample_create.
 *
 * A sample shares the history as it was when it was asked for, so that turns may go on meanwhile. Nothing is recorded
 * or counted, and no tool runs. Owns: its call. The Session ends its samples. Loop thread only.
 * Source: app-server-wire 22, thread/sample. */
#ifndef ENGINE_SAMPLE_H
#define ENGINE_SAMPLE_H

struct codex;

/* Cancels all samples of a Codex, each with ERR_cancelled. Of struct session_ops; self: the Codex. */
void samples_end(void *self);

#endif
