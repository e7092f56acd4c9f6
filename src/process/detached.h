/* detached.h — a program that is started and then left alone: it outlives the command, the Task and the engine.
 *
 * It gets our environment, no input, and its output goes nowhere. Starting does not wait; what cannot be executed is
 * nobody's error.
 * Owns: nothing but the moment of the start. Thread: the loop's. Source: core 17. */
#ifndef PROCESS_DETACHED_H
#define PROCESS_DETACHED_H

#include "base/list.h"

struct error;
struct loop;

/* Programs whose start is under way; init with list_init. */
struct detached {
	struct list starts;
};

void detached_init(struct detached *detached);
/* argv ends with NULL; its first word is looked for in PATH. cwd NULL: ours. */
int detached_start(struct detached *detached, struct loop *loop, const char *const *argv, const char *cwd,
                   struct error *err);
/* Waits the moment that a start under way takes; the programs go on. */
void detached_finish(struct detached *detached);

#endif
