/* detached.h — programs that are started and then left alone: they outlive the command, the task and the engine.
 *
 * A program inherits the engine's environment, reads from /dev/null, and its output is discarded. A start does not
 * block, so a program or a folder that does not exist is not reported.
 *
 * Owns: the starts in progress. Thread: the loop's. */
#ifndef PROCESS_DETACHED_H
#define PROCESS_DETACHED_H

#include "base/error.h"
#include "base/list.h"

struct loop;

struct detached {
	struct list starts;
};

void detached_init(struct detached *detached);
/* Starts a program. argv ends with NULL; its first word is looked up in PATH. cwd NULL: the engine's. */
must_check int detached_start(struct detached *detached, struct loop *loop, const char *const *argv, const char *cwd,
                              struct error *err);
/* Waits for the shells of starts in progress, which end within a moment; the programs continue. */
void detached_finish(struct detached *detached);

#endif
